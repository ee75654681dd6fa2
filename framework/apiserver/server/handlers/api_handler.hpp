#pragma once

#include "admission/admission_webhooks.hpp"
#include "api/response.hpp"
#include "controllers/crd_controller.hpp"
#include "handlers/monitoring.hpp"
#include "handlers/read_handler.hpp"
#include "handlers/virtual_resource_handler.hpp"
#include "handlers/write_handler.hpp"
#include "storage/server_context.hpp"

#include <functional>
#include <memory>

namespace kopp::apiserver {

/// Handles all requests of the Kubernetes API with the objects of `context`, which must outlive it.
/// Thread-safe.
class ApiHandler final : public RequestHandler {
 public:
  explicit ApiHandler(ServerContext& context);

  ServerResponse Handle(const ServerRequest& request) override;

 private:
  /// Calls Route, and converts exceptions to Status responses. `warnings` receives the warnings of
  /// the response, also for an error.
  ServerResponse HandleErrors(const ServerRequest& request, Warnings& warnings);
  ServerResponse Route(const ServerRequest& request, Warnings& warnings);
  ServerResponse HandleResource(const ServerRequest& request, const Catalog& catalog,
                                Warnings& warnings);
  ServerResponse HandleCollection(const ServerRequest& request, const ResourcePtr& resource,
                                  Warnings& warnings);
  ServerResponse HandleObject(const ServerRequest& request, const ResourcePtr& resource,
                              Warnings& warnings);
  /// Handles a request for a resource or subresource of `kind` that is not stored.
  ServerResponse HandleVirtual(const ServerRequest& request, const Resource& kind,
                               Warnings& warnings);
  /// Calls `write` and encodes its response as the Accept header requests. Throws StatusError
  /// before the call if the server cannot encode it.
  ServerResponse Write(const ServerRequest& request, const Resource& resource,
                       const std::function<ServerResponse()>& write);

  ServerContext& context_;
  ReadHandler read_handler_;
  AdmissionWebhooks webhooks_;
  WriteHandler write_handler_;
  VirtualResourceHandler virtual_handler_;
  CrdController crd_controller_;
  RequestMetrics metrics_;
  std::unique_ptr<PathHandler> path_handler_;  // null without the extension
};

}  // namespace kopp::apiserver
