#include "rest_transport.hpp"

#include "beast_transport.hpp"
#include "failures.hpp"
#include "http_rules.hpp"
#include "kept.hpp"
#include "rest_bodies.hpp"
#include "rest_progress.hpp"

#include <algorithm>
#include <utility>  // Boost.Asio 1.74 forgets it

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <cpprest/http_client.h>
#include <pplx/threadpool.h>

// cpprestsdk is kept to this file and rest_bodies.hpp. Of its habits, those that a deadline and a
// watchful caller mend are in RestProgress; the others are met where they are turned off.
namespace kopp::detail {
namespace {

using boost::asio::ip::tcp;
namespace streams = concurrency::streams;
using web::http::http_response;
using Kind = TransportError::Kind;

// Of the pool that does the input and output of all lines. More cost more: they hand each step of a
// call from one to another.
constexpr std::size_t kThreads = 2;

// Runs a continuation where it becomes ready. The default, another thread of the pool, costs more
// than all that ours do.
class InPlace final : public pplx::scheduler_interface {
 public:
  void schedule(pplx::TaskProc_t run, void* argument) override { run(argument); }
};

pplx::task_options InPlaceOption() {
  static const auto scheduler = std::make_shared<InPlace>();
  return {std::static_pointer_cast<pplx::scheduler_interface>(scheduler)};
}

Response HeadOf(const http_response& response) {
  Response head{.status = response.status_code()};
  if (head.status < 200) {
    throw TransportError(Kind::kMalformed,
                         "the server sent an interim answer (1xx), which cpprestsdk takes for the "
                         "final one: use --http-transport=beast");
  }
  CheckStatus(head.status);
  std::size_t size = 0;
  for (const auto& [name, value] : response.headers()) {
    size += name.size() + value.size();
    TakeHeader(name, value, head);
  }
  if (size > kHeaderLimit) throw failure::NotHttp("header limit exceeded");
  return head;
}

// Runs `step`, and leaves no exception to be looked at by nobody: cpprestsdk would end the process.
template <class Step>
void Guard(RestProgress& progress, Step step) noexcept {
  try {
    step();
  } catch (const TransportError& error) {
    progress.Fail(error);
  } catch (const web::http::http_exception& error) {
    progress.FailAt(error.what(), error.error_code().value());
  } catch (const std::exception& error) {
    progress.Fail(failure::NotHttp(error.what()));
  }
}

void OnBody(const pplx::task<http_response>& body, const std::shared_ptr<Claim>& claim) {
  Guard(claim->progress(), [&] {
    body.get();
    claim->progress().Complete();
  });
}

void OnHead(const pplx::task<http_response>& answer, const std::shared_ptr<Claim>& claim) {
  Guard(claim->progress(), [&] {
    const http_response response = answer.get();
    response.content_ready().then(
        [claim](const pplx::task<http_response>& body) { OnBody(body, claim); }, InPlaceOption());
    claim->progress().TakeHead(HeadOf(response));
  });
}

void InitializePool() {
  static const bool once = [] {
    try {
      crossplat::threadpool::initialize_with_threads(kThreads);
    } catch (const std::exception&) {
      // The program uses cpprestsdk on its own, and its pool serves us too.
    }
    return true;
  }();
  static_cast<void>(once);
}

// A way to one address of the server, for one call at a time: so that the call's socket is known.
struct Line {
  Line(const Server& server, const std::string& address);

  std::shared_ptr<RestProgress> progress;
  web::http::client::http_client client;
};

void Adopt(RestProgress& progress, tcp::socket& socket, SSL* session) {
  if (socket.is_open()) return progress.AdoptKept(socket.native_handle());
  boost::system::error_code error;
  socket.open(tcp::v4(), error);
  if (error) throw failure::CannotConnect(error.message());
  progress.AdoptNew(socket.native_handle(), session);
}

web::http::client::http_client_config ConfigOf(const Server& server,
                                               const std::shared_ptr<RestProgress>& progress) {
  web::http::client::http_client_config config;
  config.set_max_redirects(0);
  // Ours is the one that counts; zero would mean "at once", and so would the largest.
  config.set_timeout(std::chrono::ceil<std::chrono::seconds>(server.options.call_timeout) +
                     std::chrono::seconds(1));
  const bool tls = server.tls.has_value();
  config.set_nativehandle_options([progress, tls](web::http::client::native_handle handle) {
    if (tls) {
      auto* stream = static_cast<boost::asio::ssl::stream<tcp::socket&>*>(handle);
      Adopt(*progress, stream->next_layer(), stream->native_handle());
    } else {
      Adopt(*progress, *static_cast<tcp::socket*>(handle), nullptr);
    }
  });
  if (!tls) return config;
  config.set_validate_certificates(server.tls->verifies());
  config.set_tlsext_sni_enabled(!IsAddress(server.tls->server_name()));
  const std::shared_ptr<SSL_CTX> context(server.tls->Share(), &SSL_CTX_free);
  config.set_ssl_context_callback([context](boost::asio::ssl::context& made) {
    SSL_CTX_up_ref(context.get());
    made = boost::asio::ssl::context(context.get());
  });
  return config;
}

Line::Line(const Server& server, const std::string& address)
    : progress(std::make_shared<RestProgress>(server.options, server.tls.has_value())),
      client(web::uri((server.tls ? "https://" : "http://") + address + ":" +
                      std::to_string(server.endpoint.port)),
             ConfigOf(server, progress)) {}

class RestTransport final : public Transport {
 public:
  explicit RestTransport(std::shared_ptr<Server> server)
      : server_(std::move(server)), beast_(server_) {
    InitializePool();
  }

  Response Call(const Request& request, std::stop_token stop) override;
  std::unique_ptr<Stream> Open(const Request& request, std::stop_token stop) override {
    return beast_.Open(request, std::move(stop));
  }

 private:
  [[nodiscard]] std::optional<Response> CallByCppRest(const Request& request, TimePoint deadline,
                                                      const std::stop_token& stop);
  [[nodiscard]] Response Exchange(std::unique_ptr<Line>& line, const Request& request,
                                  TimePoint deadline, const std::stop_token& stop);
  void Start(Line& line, const Request& request);
  [[nodiscard]] web::http::http_request Compose(const Request& request,
                                                const std::shared_ptr<Claim>& claim);

  std::shared_ptr<Server> server_;
  BeastTransport beast_;
  Kept<Line> kept_;
};

Response RestTransport::Call(const Request& request, std::stop_token stop) {
  CheckRequest(request);
  const TimePoint deadline = After(Clock::Real().Now(), server_->options.call_timeout);
  try {
    if (auto response = CallByCppRest(request, deadline, stop)) return std::move(*response);
  } catch (const TransportError& error) {
    throw Explain(error, request, server_->endpoint, stop);
  }
  return beast_.Call(request, deadline, stop);
}

// nullopt: what is left are IPv6 addresses of the name, which are beyond cpprestsdk.
std::optional<Response> RestTransport::CallByCppRest(const Request& request, TimePoint deadline,
                                                     const std::stop_token& stop) {
  if (auto kept = kept_.Take()) {
    try {
      return Exchange(kept, request, deadline, stop);
    } catch (const TransportError& error) {
      // Its address may be the server's no more, and to a new one nothing was sent.
      const bool unsent = error.kind() == Kind::kUnreachable || kept->progress->Unsent();
      const bool closed = error.kind() == Kind::kBroken && kept->progress->WasKeptAndUnanswered();
      if (stop.stop_requested() || (!unsent && !(closed && IsRepeatable(request)))) throw;
    }
  }
  const TimePoint patience = After(Clock::Real().Now(), server_->options.connect_timeout);
  auto addresses = server_->lookup.Resolve(std::min(deadline, patience), stop);
  const bool has_ipv6 =
      std::erase_if(addresses, [](const Address& address) { return !address.IsIpv4(); }) > 0;
  for (const Address& address : addresses) {
    auto line = std::make_unique<Line>(*server_, address.Text());
    try {
      return Exchange(line, request, deadline, stop);
    } catch (const TransportError& error) {
      const bool unsent = error.kind() == Kind::kUnreachable || line->progress->Unsent();
      const bool is_last = &address == &addresses.back() && !has_ipv6;
      if (!unsent || is_last || stop.stop_requested()) throw;
    }
  }
  return std::nullopt;
}

// Keeps `line` when the call went well. After anything else its connection may hold bytes that
// belong to no call.
Response RestTransport::Exchange(std::unique_ptr<Line>& line, const Request& request,
                                 TimePoint deadline, const std::stop_token& stop) {
  const auto progress = line->progress;
  for (;;) {
    if (stop.stop_requested()) throw failure::Stopped();
    if (Clock::Real().Now() >= deadline) throw failure::Timeout();
    progress->Begin(deadline);
    const std::stop_callback wake(stop, [&progress] { progress->Wake(); });
    Start(*line, request);
    auto response = progress->Await(stop);
    if (!response) continue;  // that connection is gone; the next one is another, or new
    if (response->status == 401) server_->token.Distrust();
    kept_.Put(std::move(line));
    return std::move(*response);
  }
}

void RestTransport::Start(Line& line, const Request& request) {
  const auto claim = std::make_shared<Claim>(line.progress);
  line.client.request(Compose(request, claim))
      .then([claim](const pplx::task<http_response>& answer) { OnHead(answer, claim); },
            InPlaceOption());
}

web::http::http_request RestTransport::Compose(const Request& request,
                                               const std::shared_ptr<Claim>& claim) {
  web::http::http_request message(request.method);
  message.set_request_uri(web::uri(server_->endpoint.base_path + request.target));
  const std::string authorization = Authorization(server_->token.Get());
  if (!IsRepeatable(request) || !request.body.empty()) {
    const auto body = std::make_shared<RequestBody>(request.body);
    message.set_body(streams::istream(streams::streambuf<std::uint8_t>(body)), request.body.size());
    message.headers().remove("Content-Type");
  }
  // It takes the name for SNI and for its own look at the certificate from here, where a port would
  // be in the way.
  message.headers().add("Host",
                        server_->tls ? server_->tls->server_name() : server_->endpoint.Authority());
  for (const auto& [name, value] : HeadersOf(request, server_->options.user_agent, authorization)) {
    message.headers().add(std::string(name), std::string(value));
  }
  const auto sink = std::make_shared<ResponseBody>(claim, server_->options.max_body);
  message.set_response_stream(streams::ostream(streams::streambuf<std::uint8_t>(sink)));
  return message;
}

}  // namespace

std::unique_ptr<Transport> MakeRestTransport(std::shared_ptr<Server> server) {
  return std::make_unique<RestTransport>(std::move(server));
}

}  // namespace kopp::detail
