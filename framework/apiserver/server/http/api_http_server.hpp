#pragma once

#include "api/response.hpp"
#include "http/server_lifecycle.hpp"
#include "storage/server_context.hpp"

#include <memory>

#include <kopp/config.hpp>
#include <kopp/testing/listen_options.hpp>

namespace kopp::apiserver {

/// Serves the API over HTTP or HTTPS, from the constructor to the destructor: authenticates each
/// request, injects faults into responses, and follows the lifecycle's restarts. Thread-safe.
class ApiHttpServer {
 public:
  /// Listens when it returns. Throws ConfigError if it cannot listen. All arguments must outlive
  /// the server, except for `options`.
  ApiHttpServer(ServerContext& context, RequestHandler& handler, ServerLifecycle& lifecycle,
                const testing::ListenOptions& options);
  ~ApiHttpServer();
  ApiHttpServer(const ApiHttpServer&) = delete;
  ApiHttpServer& operator=(const ApiHttpServer&) = delete;

  /// Returns the Config of a client that connects as `user`: with a new bearer token over TLS,
  /// anonymously over plain HTTP.
  [[nodiscard]] Config ConfigFor(const User& user);
  /// Returns the Config of a client that connects as `user` with a client certificate. Throws
  /// std::logic_error without TLS.
  [[nodiscard]] Config ConfigWithCertificate(const User& user);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kopp::apiserver
