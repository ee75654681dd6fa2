#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/owned_ptr.hpp>

namespace kopp {

/// A certificate chain and its private key, and the clients that may connect.
struct HttpServerTls {
  std::string certificate{};  ///< PEM: the server certificate first, then the intermediates
  std::string key{};          ///< PEM
  /// PEM. If set, only clients with a certificate of one of these CAs can connect; Go:
  /// tls.RequireAndVerifyClientCert. An empty text is an error.
  std::optional<std::string> client_ca{};

  friend bool operator==(const HttpServerTls&, const HttpServerTls&) = default;
};

/// Options of HttpServer. `address` is required.
struct HttpServerOptions {
  /// The address to listen at, in the form of Go's net.Listen. ":8080" listens at all addresses of
  /// the machine; "127.0.0.1:8080", "[::1]:8080" and "localhost:8080" listen at one address. Port 0
  /// selects any free port. An empty address is an error.
  std::string address{};
  std::optional<HttpServerTls> tls{};  ///< set: serves HTTPS (TLS 1.2 or later); empty: plain HTTP

  std::size_t max_connections = 64;  ///< open at the same time
  std::size_t max_head = 64 << 10;   ///< bytes of request line and headers
  std::size_t max_body = 64 << 10;   ///< bytes of the body of a request
  // Time limits. After a timeout the connection is closed.
  Duration request_timeout = std::chrono::seconds(10);  ///< to receive a whole request
  Duration idle_timeout = std::chrono::seconds(60);     ///< from a response to the next request
  Duration drain_timeout = std::chrono::seconds(5);     ///< to receive a whole request after Drain
  Duration write_timeout = std::chrono::seconds(10);    ///< to send a response or one streamed part
};

/// A request that an HttpServer has received.
struct HttpRequest {
  std::string method{};  ///< as sent, for example "GET"
  std::string path{};    ///< percent-encoded, as sent
  std::string query{};   ///< the part after '?', percent-encoded; empty if there is none
  std::string body{};
  std::multimap<std::string, std::string> headers{};  ///< names in lower case

  /// Returns the first value of the header `name`, or "" if it is absent. `name` must be in lower
  /// case. The result is valid as long as the request.
  [[nodiscard]] std::string_view Header(const std::string& name) const {
    const auto first = headers.lower_bound(name);
    const bool is_present = first != headers.end() && first->first == name;
    return is_present ? std::string_view(first->second) : std::string_view{};
  }
};

/// The response of an HttpServer::Handler. The server adds Content-Length or Transfer-Encoding.
struct HttpResponse {
  int status = 200;
  std::string body{};
  std::string content_type = "text/plain; charset=utf-8";
  /// Further headers. A line break in a name or value is removed.
  std::vector<std::pair<std::string, std::string>> headers{};
  /// If set, the body is streamed: the server sends `body`, then calls `stream` repeatedly and
  /// sends each returned string, until `stream` returns "". Each call runs on a thread of the
  /// route, after the previous string was written to the socket. `stream` may block. If it throws,
  /// the server resets the connection. The server does not call it for a HEAD request.
  std::function<std::string()> stream{};
};

/// An HTTP/1.1 server for the endpoints of a program, such as metrics, health checks and webhooks.
/// It serves from the constructor to the destructor.
///
///     const kopp::HttpServer server{{.address = ":8080"}, {{"/hello", {[](const auto& request) {
///       return kopp::HttpResponse{.body = "hello " + request.query + "\n"};
///     }}}}};
///
/// A slow client cannot block other clients: every read and write has a timeout, and the sizes of
/// the request head and body are limited. The server responds 431 to a head that is too large, 413
/// to a body that is too large, 400 to malformed HTTP, 404 to a path without a route and 405 to a
/// method that the route does not allow. If max_connections are open and another client connects,
/// the server closes the connection that has been idle longest. If no connection is idle, the new
/// connection waits in the listen backlog of the kernel.
///
/// One thread does all network I/O. Each route has its own handler threads (see Route::threads), so
/// a slow handler does not delay other routes. All functions are thread-safe.
class HttpServer {
 public:
  /// Handles one request. Called on a thread of its route; with Route::threads > 1, on several
  /// threads at the same time. If it throws, the server responds 500 with what() of the exception
  /// as the body.
  using Handler = std::function<HttpResponse(const HttpRequest& request)>;

  /// A handler and the methods that it accepts.
  struct Route {
    Route() = default;
    template <typename F>
      requires std::constructible_from<Handler, F>
    Route(F request_handler,  // NOLINT: intentionally implicit
          std::vector<std::string> allowed_methods = {"GET"}, std::size_t handler_threads = 1)
        : handler(std::move(request_handler)),
          methods(std::move(allowed_methods)),
          threads(handler_threads) {}

    Handler handler{};
    /// The allowed methods. "GET" also allows HEAD. The server responds 405 to other methods.
    std::vector<std::string> methods{"GET"};
    /// The number of handler threads, and of requests handled at the same time. 0 means 1.
    std::size_t threads = 1;
    /// The number of requests that are handled or wait for a thread. The server responds 429 with
    /// Retry-After to further ones. 0: no limit.
    std::size_t max_in_flight = 0;
    /// Bytes of the body of a request. 0: HttpServerOptions::max_body.
    std::size_t max_body = 0;
    /// Bytes of the bodies of all requests together, from their arrival until their responses are
    /// sent. The server responds 429 with Retry-After to a request that announces or sends more.
    /// 0: no limit.
    std::size_t max_body_bytes_in_flight = 0;
    /// Called with the status 413 or 429 of each request that a limit rejects, in the network
    /// thread. It must not block or throw. Empty: nothing is called.
    std::function<void(int status)> on_rejected{};
  };
  /// The routes by path. A path that ends with '/' also matches all paths below it, and itself
  /// without this '/'. The server uses the longest match.
  using Routes = std::map<std::string, Route, std::less<>>;

  /// Starts the server. Clients can connect when the constructor returns. Throws ConfigError with
  /// the address and a remedy if it cannot listen or cannot use the certificates, and
  /// std::invalid_argument unless all times and limits are positive.
  HttpServer(const HttpServerOptions& options, Routes routes);

  /// Stops listening and closes all connections, then blocks until running handlers return. Does
  /// not wait for clients. Do not call it from a handler.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Uses `tls` for new connections; open connections keep their certificate. Throws ConfigError
  /// and keeps the current certificate if `tls` cannot be used. Throws std::logic_error if the
  /// server serves plain HTTP.
  void SetCertificate(const HttpServerTls& tls);

  /// From now on, closes each connection after its next response, which has "Connection: close". So
  /// clients connect again, and reach another replica if this one is about to stop. The server
  /// still accepts connections. Go: http.Server.SetKeepAlivesEnabled.
  void DisableKeepAlive();
  /// Stops listening, closes idle connections, and blocks until all requests that clients have
  /// sent, or are sending, have their responses and all connections are closed, or until `clock`
  /// reaches `deadline`. Closes a connection without a whole request after
  /// HttpServerOptions::drain_timeout. Returns whether all connections are closed. May be called
  /// again, to wait longer. Go: http.Server.Shutdown.
  [[nodiscard]] bool Drain(Clock& clock, TimePoint deadline);

  /// Returns the port; useful if the port in the options is 0.
  [[nodiscard]] std::uint16_t port() const;
  /// Returns the address and port at which the server listens: "127.0.0.1:8080"; "[::]:8080" for
  /// all addresses.
  [[nodiscard]] std::string address() const;

 private:
  class Impl;

  detail::OwnedPtr<Impl> impl_;
};

}  // namespace kopp
