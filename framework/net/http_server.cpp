#include "base/option_checks.hpp"
#include "base/quoted.hpp"
#include "net/http_listener.hpp"
#include "net/produced_stream.hpp"
#include "net/server_tls.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/system_error.hpp>

#include <kopp/config_error.hpp>
#include <kopp/http_server.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

namespace asio = boost::asio;
using detail::HttpListener;
using detail::OutgoingResponse;

HttpResponse Call(const HttpServer::Handler& handler, const HttpRequest& request) {
  try {
    return handler(request);
  } catch (const std::exception& error) {
    return {.status = 500, .body = std::string(error.what()) + '\n'};
  } catch (...) {
    return {.status = 500, .body = "the handler threw an exception that is not a std::exception\n"};
  }
}

HttpRequest ToHttpRequest(detail::HttpMessage& message) {
  const auto view = [](boost::beast::string_view text) {
    return std::string_view(text.data(), text.size());
  };
  const std::string_view target = detail::OriginForm(view(message.target()));
  const std::string_view path = target.substr(0, target.find('?'));
  HttpRequest request{.method = std::string(view(message.method_string())),
                      .path = std::string(path),
                      .query = std::string(target.substr(std::min(path.size() + 1, target.size()))),
                      .body = std::move(message.body())};
  for (const auto& field : message) {
    std::string name(view(field.name_string()));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    request.headers.emplace(std::move(name), std::string(view(field.value())));
  }
  return request;
}

void AddHeader(std::string& headers, std::string_view name, std::string_view value) {
  const auto add = [&headers](std::string_view text) {
    std::copy_if(text.begin(), text.end(), std::back_inserter(headers),
                 [](char c) { return c != '\r' && c != '\n'; });
  };
  add(name);
  headers += ": ";
  add(value);
  headers += "\r\n";
}

OutgoingResponse ToOutgoing(HttpResponse response) {
  OutgoingResponse outgoing{.status = response.status, .body = std::move(response.body)};
  AddHeader(outgoing.headers, "Content-Type", response.content_type);
  AddHeader(outgoing.headers, "X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) AddHeader(outgoing.headers, name, value);
  return outgoing;
}

constexpr const char* kGet = "GET";
constexpr int kContentTooLarge = 413;
constexpr int kTooManyRequests = 429;
constexpr std::pair kRetrySoon{"Retry-After", "1"};

}  // namespace

class HttpServer::Impl final : private HttpListener::Handler {
 public:
  Impl(const HttpServerOptions& options, Routes&& routes)
      : address_(options.address),
        serves_tls_(options.tls.has_value()),
        listener_({.address = options.address,
                   .max_connections = options.max_connections,
                   .limits = {.max_head = options.max_head,
                              .max_body = options.max_body,
                              .body_limits_of = [this](auto target) { return LimitsOf(target); },
                              .request_timeout = options.request_timeout,
                              .idle_timeout = options.idle_timeout,
                              .drain_timeout = options.drain_timeout,
                              .write_timeout = options.write_timeout}},
                  *this) {
    detail::RequirePositive("HttpServerOptions::request_timeout", options.request_timeout);
    detail::RequirePositive("HttpServerOptions::drain_timeout", options.drain_timeout);
    detail::RequirePositive("HttpServerOptions::idle_timeout", options.idle_timeout);
    detail::RequirePositive("HttpServerOptions::write_timeout", options.write_timeout);
    detail::RequirePositive("HttpServerOptions::max_connections", options.max_connections);
    detail::RequirePositive("HttpServerOptions::max_head", options.max_head);
    for (auto& [path, route] : routes) {
      const std::size_t threads = std::max<std::size_t>(route.threads, 1);
      routes_.emplace(path, std::make_unique<RunningRoute>(std::move(route), threads));
    }
    listener_.Start(options.tls ? MakeTls(*options.tls) : nullptr);
  }
  ~Impl() {
    listener_.Stop();
    for (const auto& [path, route] : routes_) route->threads.stop();
    for (const auto& [path, route] : routes_) route->threads.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void SetCertificate(const HttpServerTls& tls) {
    if (!serves_tls_) throw std::logic_error("HttpServer::SetCertificate: it serves plain HTTP");
    listener_.ReplaceTls(MakeTls(tls));
  }
  void DisableKeepAlive() { listener_.DisableKeepAlive(); }
  bool Drain(Clock& clock, TimePoint deadline) {
    std::unique_lock lock{drain_mutex_};
    if (!std::exchange(draining_, true)) {
      listener_.Drain([this] {
        const std::lock_guard guard{drain_mutex_};
        drained_ = true;
        drain_changed_.notify_all();
      });
    }
    while (!drained_ && clock.Now() < deadline) clock.WaitUntil(lock, drain_changed_, deadline);
    return drained_;
  }
  [[nodiscard]] const asio::ip::tcp::endpoint& endpoint() const { return listener_.endpoint(); }

 private:
  struct RunningRoute {
    RunningRoute(Route served, std::size_t thread_count)
        : route(std::move(served)), threads(thread_count) {
      const std::size_t limit = route.max_body_bytes_in_flight;
      if (limit > 0) body_budget = std::make_shared<detail::ByteBudget>(limit);
    }

    const Route route;
    std::shared_ptr<detail::ByteBudget> body_budget;  // null: no limit
    std::atomic<std::size_t> in_flight = 0;
    asio::thread_pool threads;
  };

  [[nodiscard]] std::unique_ptr<asio::ssl::context> MakeTls(const HttpServerTls& tls) const {
    try {
      return detail::MakeServerTls({.chain = tls.certificate, .key = tls.key}, tls.client_ca);
    } catch (const ConfigError& error) {
      throw ConfigError("cannot serve HTTPS on " + address_ + ": " + error.what());
    } catch (const boost::system::system_error& error) {
      throw ConfigError("cannot serve HTTPS on " + address_ +
                        ": the certificate or its key cannot be used: " + error.what() +
                        "; both must be PEM and belong together");
    }
  }

  void OnRequest(HttpListener::ConnectionId id, detail::IncomingRequest incoming) override {
    HttpRequest request = ToHttpRequest(incoming.message);
    RunningRoute* found = Find(request.path);
    if (found == nullptr) return listener_.Respond(id, ToOutgoing(NotFound(request.path)));
    const std::vector<std::string>& methods = found->route.methods;
    const std::string method = request.method == "HEAD" ? kGet : request.method;
    if (std::find(methods.begin(), methods.end(), method) == methods.end()) {
      return listener_.Respond(id, ToOutgoing(MethodNotAllowed(methods)));
    }
    const std::size_t limit = found->route.max_in_flight;
    if (limit > 0 && found->in_flight >= limit) {
      if (found->route.on_rejected) found->route.on_rejected(kTooManyRequests);
      return listener_.Respond(id, ToOutgoing(TooManyRequests(limit)));
    }
    ++found->in_flight;
    asio::post(found->threads, [this, id, found, request = std::move(request),
                                held = std::move(incoming.held)]() mutable {
      HttpResponse response = Call(found->route.handler, request);
      --found->in_flight;
      auto produce = std::exchange(response.stream, nullptr);
      OutgoingResponse outgoing = ToOutgoing(std::move(response));
      if (produce && request.method != "HEAD") {
        outgoing.stream = MakeStream(id, found->threads, std::move(produce));
      }
      outgoing.held = std::move(held);
      listener_.Respond(id, std::move(outgoing));
    });
  }

  OutgoingResponse OnRejected(int status, const std::string& text,
                              std::string_view target) override {
    const bool is_limit = status == kContentTooLarge || status == kTooManyRequests;
    const RunningRoute* found = is_limit ? FindTarget(target) : nullptr;
    if (found != nullptr && found->route.on_rejected) found->route.on_rejected(status);
    HttpResponse response{.status = status, .body = text + '\n'};
    if (status == kTooManyRequests) response.headers = {kRetrySoon};
    return ToOutgoing(std::move(response));
  }

  std::unique_ptr<detail::BodyStream> MakeStream(HttpListener::ConnectionId id,
                                                 asio::thread_pool& threads,
                                                 std::function<std::string()> produce) {
    auto state = std::make_shared<detail::Guarded<detail::ProducedStream::State>>();
    auto shared = std::make_shared<std::function<std::string()>>(std::move(produce));
    return std::make_unique<detail::ProducedStream>(state, [this, id, &threads, state, shared] {
      asio::post(threads, [this, id, state, shared] {
        std::string part;
        bool failed = false;
        try {
          part = (*shared)();
        } catch (...) {  // the server resets the connection
          failed = true;
        }
        {
          auto locked = state->Lock();
          locked->ended = failed || part.empty();
          locked->failed = failed;
          locked->ready = std::move(part);
        }
        listener_.Wake(id);
      });
    });
  }

  [[nodiscard]] RunningRoute* Find(std::string_view path) const {
    if (const auto exact = routes_.find(path); exact != routes_.end()) return exact->second.get();
    const auto folder = routes_.find(std::string(path) + '/');
    if (folder != routes_.end()) return folder->second.get();
    for (auto end = path.rfind('/'); end != std::string_view::npos;) {
      const auto prefix = routes_.find(path.substr(0, end + 1));
      if (prefix != routes_.end()) return prefix->second.get();
      if (end == 0) break;
      end = path.rfind('/', end - 1);
    }
    return nullptr;
  }

  [[nodiscard]] HttpResponse NotFound(std::string_view path) const {
    std::string text = "nothing is served at " + detail::Quoted(path) + ", only at";
    for (const auto& [served, route] : routes_) text += ' ' + served;
    return {.status = 404, .body = text + '\n'};
  }

  [[nodiscard]] RunningRoute* FindTarget(std::string_view target) const {
    target = detail::OriginForm(target);
    return Find(target.substr(0, target.find('?')));
  }

  [[nodiscard]] detail::BodyLimits LimitsOf(std::string_view target) const {
    const RunningRoute* found = FindTarget(target);
    if (found == nullptr) return {};
    return {.max = found->route.max_body, .budget = found->body_budget};
  }

  static HttpResponse TooManyRequests(std::size_t limit) {
    return {.status = kTooManyRequests,
            .body = "too many requests: " + std::to_string(limit) + " are in progress\n",
            .headers = {kRetrySoon}};
  }

  static HttpResponse MethodNotAllowed(const std::vector<std::string>& methods) {
    std::string allowed;
    for (const std::string& method : methods) {
      allowed += (allowed.empty() ? "" : ", ") + method;
      if (method == kGet) allowed += ", HEAD";
    }
    return {.status = 405,
            .body = "only " + allowed + " are served here\n",
            .headers = {{"Allow", allowed}}};
  }

  const std::string address_;
  const bool serves_tls_;
  std::mutex drain_mutex_;  // guards the next three members
  std::condition_variable drain_changed_;
  bool draining_ = false;
  bool drained_ = false;
  HttpListener listener_;
  std::map<std::string, std::unique_ptr<RunningRoute>, std::less<>> routes_;
};

HttpServer::HttpServer(const HttpServerOptions& options, Routes routes)
    : impl_(std::make_unique<Impl>(options, std::move(routes))) {}

HttpServer::~HttpServer() = default;
void HttpServer::SetCertificate(const HttpServerTls& tls) { impl_->SetCertificate(tls); }
void HttpServer::DisableKeepAlive() { impl_->DisableKeepAlive(); }
bool HttpServer::Drain(Clock& clock, TimePoint deadline) { return impl_->Drain(clock, deadline); }

std::uint16_t HttpServer::port() const { return impl_->endpoint().port(); }

std::string HttpServer::address() const {
  const asio::ip::tcp::endpoint& endpoint = impl_->endpoint();
  const std::string host = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? '[' + host + ']' : host) + ':' + std::to_string(port());
}

}  // namespace kopp
