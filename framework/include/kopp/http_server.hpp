#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// A certificate chain and its private key, both as PEM text.
struct HttpServerTls {
  std::string certificate{};
  std::string key{};
};

struct HttpServerOptions {
  /// In Go's form: ":8080" for all addresses of the machine, "127.0.0.1:8080", "[::1]:8080" or
  /// "localhost:8080" for one. Port 0 selects any free port.
  std::string address{};
  std::optional<HttpServerTls> tls{};  ///< serves HTTPS (TLS 1.2 or later); none: plain HTTP

  std::size_t max_connections = 64;                     ///< open at the same time
  std::size_t max_head = 64 << 10;                      ///< bytes of request line and headers
  std::size_t max_body = 64 << 10;                      ///< bytes of a request's body
  Duration request_timeout = std::chrono::seconds(10);  ///< to receive a whole request
  Duration idle_timeout = std::chrono::seconds(60);     ///< until the next request begins
  Duration write_timeout = std::chrono::seconds(10);    ///< to send a response, or a piece of it
};

struct HttpRequest {
  std::string method{};
  std::string path{};   ///< as sent, percent-encoded
  std::string query{};  ///< what follows the '?', as sent
  std::string body{};
  std::multimap<std::string, std::string> headers{};  ///< names in lower case

  /// The first value of a header; `name` in lower case. "" if the header is absent.
  [[nodiscard]] std::string_view Header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view{} : found->second;
  }
};

struct HttpResponse {
  int status = 200;
  std::string body{};
  std::string content_type = "text/plain; charset=utf-8";
  /// Further headers. A line break in a name or value is removed.
  std::vector<std::pair<std::string, std::string>> headers{};
  /// Makes the response a stream: after `body`, the server calls `stream` repeatedly in the
  /// handler's thread and sends what it returns, until it returns "". It calls it only after the
  /// client has accepted the previous piece. It may block. If it throws, the connection is reset.
  std::function<std::string()> stream{};
};

/// Serves the pages of a program (metrics, health, webhooks) over HTTP/1.1, from the constructor to
/// the destructor.
///
///     const kopp::HttpServer server{{.address = ":8080"}, {{"/hello", {[](const auto& request) {
///       return kopp::HttpResponse{.body = "hello " + request.query + "\n"};
///     }}}}};
///
/// No client can block the others: each wait for a client has a deadline, and each thing that it
/// sends a bound. Too large a head gets 431, too large a body 413, malformed HTTP 400. When
/// max_connections are open and another client connects, the connection that has been idle longest
/// is closed; if all of them are busy, the new one waits in the kernel's queue.
///
/// Threads: one for the network, and for each route its own, so a slow handler delays no other
/// route. Thread-safe.
class HttpServer {
 public:
  /// If it throws, the client gets 500 with the text of the exception.
  using Handler = std::function<HttpResponse(const HttpRequest& request)>;

  struct Route {
    Route() = default;
    template <typename F>
      requires std::constructible_from<Handler, F>
    Route(F serve, std::vector<std::string> allowed_methods = {"GET"},  // NOLINT: meant to convert
          std::size_t handler_threads = 1)
        : handler(std::move(serve)),
          methods(std::move(allowed_methods)),
          threads(handler_threads) {}

    Handler handler{};
    std::vector<std::string> methods{"GET"};  ///< "GET" allows HEAD too; others get 405
    std::size_t threads = 1;  ///< how many requests of this route are handled at the same time
  };
  /// By path. A path that ends with '/' also serves all paths below it; the longest match wins.
  using Routes = std::map<std::string, Route, std::less<>>;

  /// Listens when it returns. Throws ConfigError with the address and a remedy if it cannot listen
  /// or cannot use the certificate.
  HttpServer(const HttpServerOptions& options, Routes routes);

  /// Closes all connections. Waits for the handlers that run, but for no client.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  /// Where it listens: "127.0.0.1:8080"; "[::]:8080" for all addresses.
  [[nodiscard]] std::string address() const;

 private:
  class Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace kopp
