#pragma once

#include "api/extensions.hpp"
#include "api/response.hpp"
#include "storage/server_context.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Handles the creation of objects of virtual kinds: the reviews, and the kinds of the extensions.
/// Thread-safe. `context` must outlive it.
class VirtualResourceHandler {
 public:
  explicit VirtualResourceHandler(ServerContext& context) : context_(context) {}

  /// Handles a POST of an object of `kind`. Throws StatusError.
  ServerResponse Create(const ServerRequest& request, const Resource& kind, Warnings& warnings);

 private:
  /// Returns the function that handles a kind.
  [[nodiscard]] VirtualKindHandler HandlerOf(const std::string& kind) const;

  ServerContext& context_;
};

/// Returns the object of the request with the managedFields of a creation.
[[nodiscard]] nlohmann::json WithManagedFields(const VirtualRequest& request);

// The handlers of the server. They are VirtualKindHandlers.
[[nodiscard]] nlohmann::json ReviewToken(const VirtualRequest& request);
[[nodiscard]] nlohmann::json ReviewAccess(const VirtualRequest& request);

}  // namespace kopp::apiserver
