#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <kopp/workqueue/clock.hpp>

namespace kopp {

struct HttpServerOptions {
  /// As Go writes it: ":8080" for all addresses of the machine, "127.0.0.1:8080", "[::1]:8080" or
  /// "localhost:8080" for one. Port 0: any that is free.
  std::string address{};

  std::size_t max_connections = 64;  ///< at once
  std::size_t max_head = 64 << 10;   ///< bytes of a request's first line and headers
  std::size_t max_body = 64 << 10;   ///< bytes of a request's body, which is not looked at
  Duration request_timeout = std::chrono::seconds(10);  ///< for a request to come in whole
  Duration idle_timeout = std::chrono::seconds(60);     ///< for another one to begin
  Duration write_timeout = std::chrono::seconds(10);    ///< for an answer to be taken
};

struct HttpAnswer {
  int status = 200;
  std::string body{};
  std::string content_type = "text/plain; charset=utf-8";
};

/// Serves a program's own pages (metrics, health) over plain HTTP/1.1, from the constructor to the
/// destructor.
///
///     const kopp::HttpServer server{{.address = ":8080"}, {{"/hello", [](std::string_view) {
///       return kopp::HttpAnswer{.body = "hello\n"};
///     }}}};
///
/// No client can keep it from the others. Each wait for a client has a deadline and each thing that
/// it sends a bound: too large a head is answered with 431, a body with 413, what is no HTTP with
/// 400. When max_connections are there and one more comes, the connection that has kept us waiting
/// longest for a request is closed for it; only when all of them are being answered does the new
/// one wait, where the kernel keeps it.
///
/// Two threads: one for the network, one that calls the handlers, in turn. Safe to use from any
/// thread.
class HttpServer {
 public:
  /// Answers GET (and HEAD) of one path; `query` is what stands behind its '?'. What it throws is
  /// answered with 500 and the text of the exception.
  using Handler = std::function<HttpAnswer(std::string_view query)>;
  using Handlers = std::map<std::string, Handler, std::less<>>;  ///< by exact path

  /// Listens when it returns. Throws ConfigError, with the address and what to do, where it cannot.
  HttpServer(HttpServerOptions options, Handlers handlers);

  /// Closes all connections. Waits for a handler that runs, and for nothing else.
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
