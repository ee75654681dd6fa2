#include "controllers/deletion.hpp"

#include "api/status.hpp"
#include "crd/crd_status.hpp"
#include "crd/crd_validation.hpp"
#include "schema/accessors.hpp"
#include "schema/finalizers.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns a Conflict with the kind in place of the plural, as kube-apiserver does in this message.
StatusError PreconditionFailed(const Resource& resource, const std::string& name,
                               const std::string& what) {
  Resource named;
  named.plural = resource.kind;
  named.group = resource.group;
  return Conflict(named, name, what);
}

/// Returns the object's finalizers, with `orphan` and `foregroundDeletion` set for the propagation
/// policy.
std::vector<std::string> FinalizersFor(const Resource& resource, const json& object,
                                       const DeleteOptions& options) {
  std::vector<std::string> finalizers = FinalizersOf(object);
  std::erase(finalizers, StrategyOf(resource).protection_finalizer);
  const auto find = [&](const char* name) {
    return std::find(finalizers.begin(), finalizers.end(), name);
  };
  std::string propagation = options.propagation;
  if (propagation.empty() && find(kForegroundFinalizer) == finalizers.end()) {
    propagation = StrategyOf(resource).default_propagation;
  }
  if (propagation.empty()) return finalizers;
  const auto set = [&](const char* name, bool present) {
    const auto found = find(name);
    if (present && found == finalizers.end()) finalizers.emplace_back(name);
    if (!present && found != finalizers.end()) finalizers.erase(found);
  };
  set(kOrphanFinalizer, propagation == "Orphan");
  set(kForegroundFinalizer, propagation == "Foreground");
  return finalizers;
}

/// Returns the grace period in seconds that a kubelet has to stop a Pod. Returns 0 if the Pod is
/// not scheduled or has finished.
std::int64_t GracePeriodOf(const json& pod, std::optional<std::int64_t> requested) {
  const json spec = pod.value("spec", json::object());
  const std::string phase = pod.value("status", json::object()).value("phase", "");
  if (!spec.contains("nodeName") || phase == "Succeeded" || phase == "Failed") return 0;
  const std::int64_t seconds =
      requested.value_or(spec.value("terminationGracePeriodSeconds", std::int64_t{30}));
  return seconds < 0 ? 1 : seconds;
}

}  // namespace

void CheckPreconditions(const Resource& resource, const std::string& name, const json& metadata,
                        const DeleteOptions& options) {
  const std::string uid = metadata.value("uid", "");
  if (resource.storage_resource == "namespaces" && !options.uid.empty() && options.uid != uid) {
    throw Conflict(resource, name,
                   "Precondition failed: UID in precondition: " + options.uid +
                       ", UID in object meta: " + uid);
  }
  if (!options.uid.empty() && options.uid != uid) {
    throw PreconditionFailed(resource, name,
                             "the UID in the precondition (" + options.uid +
                                 ") does not match the UID in record (" + uid +
                                 "). The object might have been deleted and then recreated");
  }
  const std::string version = metadata.value("resourceVersion", "");
  if (!options.resource_version.empty() && options.resource_version != version) {
    throw PreconditionFailed(resource, name,
                             "the ResourceVersion in the precondition (" +
                                 options.resource_version +
                                 ") does not match the ResourceVersion in record (" + version +
                                 "). The object might have been modified");
  }
}

bool IsDeletionPending(const Resource& resource, const json& object, const DeleteOptions& options) {
  const json& pending = ValueAt(object, "/metadata/deletionGracePeriodSeconds");
  if (!StrategyOf(resource).deletes_gracefully || pending.is_null()) return false;
  const std::int64_t period = options.grace_period.value_or(pending.get<std::int64_t>());
  return (period < 0 ? 1 : period) >= pending.get<std::int64_t>();
}

json MarkForDeletion(ServerContext& context, const Resource& resource, json object,
                     const DeleteOptions& options) {
  const bool is_namespace = resource.storage_resource == "namespaces";
  if (resource.storage_resource == kCrdStorageResource)
    return StartDeletion(std::move(object), context.Now());
  const std::vector<std::string> finalizers = FinalizersFor(resource, object, options);
  json& metadata = object["metadata"];
  metadata.erase("finalizers");
  if (!finalizers.empty()) metadata["finalizers"] = finalizers;
  const bool is_graceful = StrategyOf(resource).deletes_gracefully;
  const bool is_new = !metadata.contains("deletionTimestamp");
  if (!is_new && (!is_graceful || IsDeletionPending(resource, object, options))) return object;
  const std::int64_t grace = is_graceful ? GracePeriodOf(object, options.grace_period) : 0;
  constexpr std::int64_t kCentury =
      100L * 365 * 24 * 3600;  // in seconds; a limit avoids an overflow of the time
  metadata["deletionTimestamp"] = context.Now(std::chrono::seconds(std::min(grace, kCentury)));
  if (!is_namespace) metadata["deletionGracePeriodSeconds"] = grace;
  if (is_new && StrategyOf(resource).generation != KindStrategy::Generation::kNone) {
    metadata["generation"] = metadata.value("generation", 0) + 1;
  }
  if (is_namespace) object["status"]["phase"] = "Terminating";
  return object;
}

}  // namespace kopp::apiserver
