#pragma once

#include "admission/admission_webhooks.hpp"
#include "api/extensions.hpp"
#include "api/response.hpp"
#include "storage/server_context.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Handles the creation of objects of virtual kinds: the reviews, and the kinds of the extensions.
/// Thread-safe. `context` and `webhooks` must outlive it.
class VirtualResourceHandler {
 public:
  VirtualResourceHandler(ServerContext& context, AdmissionWebhooks& webhooks)
      : context_(context), webhooks_(webhooks) {}

  /// Handles a POST of an object of `kind`. Throws StatusError.
  ServerResponse Create(const ServerRequest& request, const Resource& kind, Warnings& warnings);

 private:
  /// Returns the function that handles a kind.
  [[nodiscard]] VirtualKindHandler HandlerOf(const std::string& kind) const;
  /// Returns the object after the mutating webhooks, if no webhook rejects it.
  [[nodiscard]] nlohmann::json Admit(const WriteRequest& write, nlohmann::json object,
                                     Warnings& warnings);

  ServerContext& context_;
  AdmissionWebhooks& webhooks_;
};

/// Returns the object of the request with the managedFields of a creation.
[[nodiscard]] nlohmann::json WithManagedFields(const VirtualRequest& request);

// The handlers of the server. They are VirtualKindHandlers.
[[nodiscard]] nlohmann::json ReviewToken(const VirtualRequest& request);
[[nodiscard]] nlohmann::json ReviewAccess(const VirtualRequest& request);

}  // namespace kopp::apiserver
