#pragma once

#include "api/request_handler.hpp"
#include "http/in_memory_connection.hpp"
#include "http/server_lifecycle.hpp"
#include "storage/server_context.hpp"

#include <string>

#include <kopp/transport.hpp>

namespace kopp::apiserver {

/// A Transport that calls the server in the calling thread, without a socket. Injected faults and
/// restarts of the server have the same effects as on a connection, except that all waits are by
/// the server's clock. Thread-safe. The context, the server and the lifecycle must outlive it.
class InMemoryTransport final : public Transport {
 public:
  InMemoryTransport(ServerContext& context, RequestHandler& server, ServerLifecycle& lifecycle,
                    User user, std::string user_agent)
      : context_(context),
        server_(server),
        lifecycle_(lifecycle),
        user_(std::move(user)),
        user_agent_(std::move(user_agent)) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override;
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override;

 private:
  [[nodiscard]] ServerRequest ToServerRequest(const ApiRequest& request) const;
  /// Returns the response when its first byte would arrive. Throws TransportError.
  ServerResponse Exchange(const ApiRequest& request, InMemoryConnection& connection);

  ServerContext& context_;
  RequestHandler& server_;
  ServerLifecycle& lifecycle_;
  const User user_;
  const std::string user_agent_;
};

}  // namespace kopp::apiserver
