#pragma once

#include "api/request_handler.hpp"
#include "storage/server_context.hpp"

namespace kopp::apiserver {

/// Executes a request as the user that its Impersonate-* headers name, and rejects it (403) if the
/// user does not have the permission. Thread-safe. `context` and `handler` must outlive it.
class AccessFilter final : public RequestHandler {
 public:
  AccessFilter(ServerContext& context, RequestHandler& handler)
      : context_(context), handler_(handler) {}

  ServerResponse Handle(const ServerRequest& request) override;

 private:
  /// Handles a request after its impersonation.
  ServerResponse HandleImpersonated(const ServerRequest& request);
  /// Handles a request of `request.user`.
  ServerResponse HandleAuthorized(const ServerRequest& request);

  ServerContext& context_;
  RequestHandler& handler_;
};

}  // namespace kopp::apiserver
