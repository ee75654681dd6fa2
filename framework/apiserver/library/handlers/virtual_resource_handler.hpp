#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/response.hpp"
#include "api/write_options.hpp"
#include "handlers/garbage_collector.hpp"
#include "handlers/write_handler.hpp"
#include "storage/server_context.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Handles the creation of virtual resources: reviews, bindings, evictions and token requests.
/// Thread-safe. `context` and `write_handler` must outlive it.
class VirtualResourceHandler {
 public:
  VirtualResourceHandler(ServerContext& context, WriteHandler& write_handler)
      : context_(context), write_handler_(write_handler), collector_(context) {}

  /// Handles a POST of an object of `kind`. Throws StatusError.
  ServerResponse Create(const ServerRequest& request, const Resource& kind, Warnings& warnings);

 private:
  /// The decoded object of a request.
  struct Params {
    const ServerRequest& request;
    const Resource& kind;
    nlohmann::json object{};
    bool dry_run = false;
  };
  using Handler = nlohmann::json (VirtualResourceHandler::*)(const Params& params);
  /// Returns the function that handles a kind.
  [[nodiscard]] static Handler HandlerOf(const std::string& kind);
  /// Returns `object` with the managedFields of a creation.
  [[nodiscard]] nlohmann::json WithManagedFields(const Params& params);

  // Each returns the object in the response. A null is replaced by a Status "Success".
  nlohmann::json Bind(const Params& params);
  nlohmann::json Evict(const Params& params);
  nlohmann::json RequestToken(const Params& params);
  nlohmann::json ReviewToken(const Params& params);
  nlohmann::json ReviewSelf(const Params& params);
  nlohmann::json ReviewAccess(const Params& params);
  nlohmann::json ReviewRules(const Params& params);

  /// Evicts a Pod, once. Returns false if the Pod has changed meanwhile, so that its state allows
  /// no decision.
  bool TryEvict(const Resource& pods, const ObjectKey& key, const nlohmann::json& options);
  /// Adds the condition DisruptionTarget to a Pod and deletes it.
  void DeleteEvictedPod(const Resource& pods, const ObjectKey& key, DeleteOptions options);
  /// Takes one disruption from the PodDisruptionBudget of the Pod, if there is one. Returns false
  /// if the Pod does not count because it is not ready. Throws StatusError (429) if the budget
  /// allows no disruption.
  bool TakeDisruption(const ObjectKey& key, const nlohmann::json& pod, bool dry_run);
  void UpdateBudgetStatus(const nlohmann::json& budget);

  ServerContext& context_;
  WriteHandler& write_handler_;
  GarbageCollector collector_;
};

}  // namespace kopp::apiserver
