#include "../cpprest_transport.hpp"

#include "../beast_transport.hpp"
#include "../connection_pool.hpp"
#include "../http_client_messages.hpp"
#include "cpprest_bodies.hpp"
#include "cpprest_progress.hpp"
#include "cpprest_threads.hpp"
#include "net/transport_failure.hpp"

#include <algorithm>
#include <utility>  // needed by Boost.Asio 1.74, which does not include it

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <cpprest/http_client.h>

// Only this file, cpprest_bodies.hpp and cpprest_threads.hpp use cpprestsdk. CpprestProgress
// compensates for its missing deadlines and limits. Comments in this file explain the other
// workarounds.
namespace kopp::detail {
namespace {

using boost::asio::ip::tcp;
namespace streams = concurrency::streams;
using web::http::http_response;
using ErrorKind = TransportError::Kind;

// Returns status and headers without the body. Throws TransportError for a response that kopp
// rejects.
ApiResponse ReadHead(const http_response& response) {
  ApiResponse head{.status = response.status_code()};
  if (head.status < 200) {
    throw TransportError(
        ErrorKind::kMalformed,
        "the server sent an interim response (1xx), which cpprestsdk takes for the "
        "final response: use --http-transport=beast");
  }
  const auto location = response.headers().find("Location");
  RejectRedirect(head.status,
                 location == response.headers().end() ? std::string_view() : location->second);
  std::size_t size = 0;
  for (const auto& [name, value] : response.headers()) {
    size += name.size() + value.size();
    ApplyResponseHeader(name, value, head);
  }
  if (size > kMaxHeaderBytes) throw failure::InvalidHttp("header limit exceeded");
  return head;
}

// Runs `function` and reports every exception to `progress`. cpprestsdk terminates the process if a
// task ends with an exception that nothing observes.
template <class Function>
void RunStep(CpprestProgress& progress, Function function) noexcept {
  try {
    function();
  } catch (const TransportError& error) {
    progress.Fail(error);
  } catch (const web::http::http_exception& error) {
    progress.FailWithCpprestError(error.what(), error.error_code().value());
  } catch (const std::exception& error) {
    progress.Fail(failure::InvalidHttp(error.what()));
  }
}

void OnBody(const pplx::task<http_response>& body, const std::shared_ptr<CallGuard>& guard) {
  RunStep(guard->progress(), [&] {
    body.get();
    guard->progress().SetBodyComplete();
  });
}

void OnHead(const pplx::task<http_response>& response_task,
            const std::shared_ptr<CallGuard>& guard) {
  RunStep(guard->progress(), [&] {
    const http_response response = response_task.get();
    response.content_ready().then(
        [guard](const pplx::task<http_response>& body) { OnBody(body, guard); }, InlineExecution());
    guard->progress().SetHead(ReadHead(response));
  });
}

// A cpprestsdk client for one address of the server. It makes one call at a time, so that the
// socket of the call is known.
struct PooledConnection {
  PooledConnection(const TransportContext& context, std::shared_ptr<const TlsContext> tls,
                   const std::string& address);

  [[nodiscard]] TimePoint opened() const { return progress->opened(); }

  std::shared_ptr<const TlsContext> tls;  // null for http://
  std::shared_ptr<CpprestProgress> progress;
  web::http::client::http_client client;
};

// cpprestsdk calls this before it uses a socket for a call. Opens a new socket already here, so
// that `progress` can supervise it while it connects.
void AttachSocket(CpprestProgress& progress, tcp::socket& socket, SSL* session) {
  if (socket.is_open()) return progress.AttachReusedSocket(socket.native_handle());
  boost::system::error_code error;
  socket.open(tcp::v4(), error);
  if (error) throw failure::CannotConnect(error.message());
  progress.AttachNewSocket(socket.native_handle(), session);
}

web::http::client::http_client_config MakeClientConfig(
    const TransportContext& context, const TlsContext* tls,
    const std::shared_ptr<CpprestProgress>& progress) {
  web::http::client::http_client_config config;
  config.set_max_redirects(0);
  // CpprestProgress enforces the deadline; this timeout is longer. Zero and very large values would
  // make cpprestsdk time out immediately.
  config.set_timeout(std::chrono::ceil<std::chrono::seconds>(context.options.call_timeout) +
                     std::chrono::seconds(1));
  const bool uses_tls = tls != nullptr;
  config.set_nativehandle_options([progress, uses_tls](web::http::client::native_handle handle) {
    if (uses_tls) {
      auto* stream = static_cast<boost::asio::ssl::stream<tcp::socket&>*>(handle);
      AttachSocket(*progress, stream->next_layer(), stream->native_handle());
    } else {
      AttachSocket(*progress, *static_cast<tcp::socket*>(handle), nullptr);
    }
  });
  if (!uses_tls) return config;
  config.set_validate_certificates(tls->verifies_server());
  config.set_tlsext_sni_enabled(!IsIpAddress(tls->server_name()));
  const std::shared_ptr<SSL_CTX> ssl(tls->NewReference(), &SSL_CTX_free);
  config.set_ssl_context_callback([ssl](boost::asio::ssl::context& ssl_context) {
    SSL_CTX_up_ref(ssl.get());
    ssl_context = boost::asio::ssl::context(ssl.get());
  });
  return config;
}

PooledConnection::PooledConnection(const TransportContext& context,
                                   std::shared_ptr<const TlsContext> tls_context,
                                   const std::string& address)
    : tls(std::move(tls_context)),
      progress(std::make_shared<CpprestProgress>(context.options, tls != nullptr)),
      client(web::uri((tls ? "https://" : "http://") + address + ":" +
                      std::to_string(context.endpoint.port)),
             MakeClientConfig(context, tls.get(), progress)) {}

class CpprestTransport final : public Transport {
 public:
  explicit CpprestTransport(std::shared_ptr<TransportContext> context)
      : context_(std::move(context)), beast_(context_) {
    InitializeThreadPool();
  }

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override;
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    return beast_.Open(request, std::move(stop));
  }

 private:
  [[nodiscard]] std::optional<ApiResponse> CallByCpprest(const ApiRequest& request,
                                                         const Credentials& credentials,
                                                         TimePoint deadline,
                                                         const std::stop_token& stop);
  [[nodiscard]] std::unique_ptr<PooledConnection> AcquirePooled(const Credentials& credentials);
  [[nodiscard]] ApiResponse Exchange(std::unique_ptr<PooledConnection>& connection,
                                     const ApiRequest& request, const Credentials& credentials,
                                     TimePoint deadline, TimePoint silence_deadline,
                                     const std::stop_token& stop);
  void SendRequest(PooledConnection& connection, const ApiRequest& request,
                   const Credentials& credentials);
  [[nodiscard]] web::http::http_request MakeHttpRequest(const ApiRequest& request,
                                                        const Credentials& credentials,
                                                        const std::shared_ptr<CallGuard>& guard);

  std::shared_ptr<TransportContext> context_;
  BeastTransport beast_;
  ConnectionPool<PooledConnection> pool_;
};

ApiResponse CpprestTransport::Call(const ApiRequest& request, std::stop_token stop) {
  CheckApiRequest(request);
  const TimePoint deadline = SaturatingAdd(Clock::Real().Now(), context_->options.call_timeout);
  std::shared_ptr<const Credentials> credentials;
  try {
    credentials = context_->credentials.Get(deadline, stop);
    if (auto response = CallByCpprest(request, *credentials, deadline, stop)) {
      context_->CheckStatus(*response, credentials);
      return std::move(*response);
    }
  } catch (const TransportError& error) {
    context_->CheckError(error, credentials);
    throw AddRequestContext(error, request, context_->endpoint, stop);
  } catch (const boost::system::system_error& error) {
    // cpprestsdk failed before it sent anything: there are no free file descriptors, for example.
    throw AddRequestContext(failure::CannotConnect(error.code().message()), request,
                            context_->endpoint, stop);
  }
  return beast_.Call(request, deadline, stop);
}

// Returns nullopt if only IPv6 addresses of the name are left to try, which cpprestsdk does not
// support.
std::optional<ApiResponse> CpprestTransport::CallByCpprest(const ApiRequest& request,
                                                           const Credentials& credentials,
                                                           TimePoint deadline,
                                                           const std::stop_token& stop) {
  if (auto pooled = AcquirePooled(credentials)) {
    const bool safe = IsSafeToRetry(request);
    const TimePoint sent = Clock::Real().Now();
    const TimePoint silence_deadline =
        safe ? DeadConnectionDetector::SilenceDeadline(sent, deadline) : TimePoint::max();
    try {
      return Exchange(pooled, request, credentials, deadline, silence_deadline, stop);
    } catch (const TransportError& error) {
      // The server may have moved to another address. If nothing was sent, try the current
      // addresses.
      const bool unsent =
          error.kind() == ErrorKind::kUnreachable || pooled->progress->NothingWasSent();
      const bool closed =
          error.kind() == ErrorKind::kBroken && pooled->progress->ReusedConnectionWithoutResponse();
      const TimePoint now = Clock::Real().Now();
      const bool was_silent = pooled->progress->ReusedConnectionWasSilent();
      if (was_silent) context_->dead_connections.OnSilence(sent, now, pool_);
      const bool silent = error.kind() == ErrorKind::kTimeout && was_silent && now < deadline;
      if (stop.stop_requested() || (!unsent && !((closed || silent) && safe))) throw;
    }
  }
  const TimePoint lookup_deadline =
      SaturatingAdd(Clock::Real().Now(), context_->options.connect_timeout);
  auto addresses = context_->lookup.Resolve(std::min(deadline, lookup_deadline), stop);
  const bool has_ipv6 =
      std::erase_if(addresses, [](const Address& address) { return !address.IsIpv4(); }) > 0;
  for (const Address& address : addresses) {
    auto connection =
        std::make_unique<PooledConnection>(*context_, credentials.tls, address.Text());
    try {
      return Exchange(connection, request, credentials, deadline, TimePoint::max(), stop);
    } catch (const TransportError& error) {
      const bool unsent =
          error.kind() == ErrorKind::kUnreachable || connection->progress->NothingWasSent();
      const bool is_last = &address == &addresses.back() && !has_ipv6;
      if (!unsent || is_last || stop.stop_requested()) throw;
    }
  }
  return std::nullopt;
}

std::unique_ptr<PooledConnection> CpprestTransport::AcquirePooled(const Credentials& credentials) {
  auto connection = pool_.Acquire();
  while (connection && connection->tls != credentials.tls) connection = pool_.Acquire();
  return connection;
}

// Releases `connection` to the pool if the call succeeds. After a failure the connection may hold
// bytes that belong to no call.
ApiResponse CpprestTransport::Exchange(std::unique_ptr<PooledConnection>& connection,
                                       const ApiRequest& request, const Credentials& credentials,
                                       TimePoint deadline, TimePoint silence_deadline,
                                       const std::stop_token& stop) {
  const auto progress = connection->progress;
  for (;;) {
    if (stop.stop_requested()) throw failure::Cancelled();
    if (Clock::Real().Now() >= deadline) throw failure::ResponseTimeout();
    if (request.before_send) request.before_send();
    const TimePoint sent = Clock::Real().Now();
    progress->StartCall(deadline, silence_deadline);
    const std::stop_callback wake(stop, [&progress] { progress->Wake(); });
    SendRequest(*connection, request, credentials);
    auto response = progress->WaitForResponse(stop);
    if (!response) continue;  // the reused connection was closed: use another connection
    context_->dead_connections.OnResponse(progress->opened(), sent);
    pool_.Release(std::move(connection));
    return std::move(*response);
  }
}

void CpprestTransport::SendRequest(PooledConnection& connection, const ApiRequest& request,
                                   const Credentials& credentials) {
  const auto guard = std::make_shared<CallGuard>(connection.progress);
  connection.client.request(MakeHttpRequest(request, credentials, guard))
      .then(
          [guard](const pplx::task<http_response>& response_task) { OnHead(response_task, guard); },
          InlineExecution());
}

web::http::http_request CpprestTransport::MakeHttpRequest(const ApiRequest& request,
                                                          const Credentials& credentials,
                                                          const std::shared_ptr<CallGuard>& guard) {
  web::http::http_request message(request.method);
  message.set_request_uri(web::uri(context_->endpoint.base_path + request.target));
  if (!IsSafeToRetry(request) || !request.body.empty()) {
    const auto body = std::make_shared<RequestBody>(request.body);
    message.set_body(streams::istream(streams::streambuf<std::uint8_t>(body)), request.body.size());
    message.headers().remove("Content-Type");
  }
  // cpprestsdk takes the name for SNI and for its certificate check from the Host header, where a
  // port would break both.
  message.headers().add(
      "Host", credentials.tls ? credentials.tls->server_name() : context_->endpoint.Authority());
  for (const auto& [name, value] : context_->HeadersFor(request, credentials)) {
    message.headers().add(std::string(name), std::string(value));
  }
  const auto sink = std::make_shared<ResponseBody>(guard, context_->options.max_body);
  message.set_response_stream(streams::ostream(streams::streambuf<std::uint8_t>(sink)));
  return message;
}

std::unique_ptr<Transport> Make(std::shared_ptr<TransportContext> context) {
  return std::make_unique<CpprestTransport>(std::move(context));
}

}  // namespace
}  // namespace kopp::detail

// The symbol with which CMakeLists.txt makes the linker take this source.
extern "C" {
extern const bool kopp_cpprest;
const bool kopp_cpprest = (kopp::detail::cpprest_factory = &kopp::detail::Make) != nullptr;
}
