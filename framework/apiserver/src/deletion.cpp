#include "deletion.hpp"

#include "definition_rules.hpp"
#include "definitions.hpp"
#include "kind_rules.hpp"
#include "metadata_rules.hpp"
#include "status.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// The kind, as this one message names it.
Refusal PreconditionFailed(const Resource& resource, const std::string& name,
                           const std::string& what) {
  Resource named;
  named.plural = resource.kind;
  named.group = resource.group;
  return Conflict(named, name, what);
}

/// The finalizers with those that the way of deletion wants, and without those that it does not.
std::vector<std::string> FinalizersFor(const Resource& resource, const json& object,
                                       const DeleteOptions& options) {
  std::vector<std::string> finalizers = FinalizersOf(object);
  std::erase(finalizers, RulesOf(resource).protection);
  const auto find = [&](const char* name) {
    return std::find(finalizers.begin(), finalizers.end(), name);
  };
  std::string propagation = options.propagation;
  if (propagation.empty() && find(kForeground) == finalizers.end()) {
    propagation = RulesOf(resource).propagation;
  }
  if (propagation.empty()) return finalizers;
  const auto set = [&](const char* name, bool wanted) {
    const auto found = find(name);
    if (wanted && found == finalizers.end()) finalizers.emplace_back(name);
    if (!wanted && found != finalizers.end()) finalizers.erase(found);
  };
  set(kOrphan, propagation == "Orphan");
  set(kForeground, propagation == "Foreground");
  return finalizers;
}

/// How long a kubelet has to end a Pod; none where there is nothing to end.
std::int64_t GracePeriodOf(const json& pod, std::optional<std::int64_t> asked) {
  const json spec = pod.value("spec", json::object());
  const std::string phase = pod.value("status", json::object()).value("phase", "");
  if (!spec.contains("nodeName") || phase == "Succeeded" || phase == "Failed") return 0;
  const std::int64_t seconds =
      asked.value_or(spec.value("terminationGracePeriodSeconds", std::int64_t{30}));
  return seconds < 0 ? 1 : seconds;
}

}  // namespace

void CheckPreconditions(const Resource& resource, const std::string& name, const json& metadata,
                        const DeleteOptions& options) {
  const std::string uid = metadata.value("uid", "");
  if (resource.kept_as == "namespaces" && !options.uid.empty() && options.uid != uid) {
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

json Marked(World& world, const Resource& resource, json object, const DeleteOptions& options) {
  const bool is_namespace = resource.kept_as == "namespaces";
  if (resource.kept_as == kDefinitions) return Terminated(std::move(object), world.Now());
  const std::vector<std::string> finalizers = FinalizersFor(resource, object, options);
  json& metadata = object["metadata"];
  metadata.erase("finalizers");
  if (!finalizers.empty()) metadata["finalizers"] = finalizers;
  const std::int64_t grace =
      RulesOf(resource).graceful ? GracePeriodOf(object, options.grace_period) : 0;
  const bool is_new = !metadata.contains("deletionTimestamp");
  if (!is_new && grace >= metadata.value("deletionGracePeriodSeconds", 0)) return object;
  constexpr std::int64_t kCentury = 100L * 365 * 24 * 3600;  // in seconds: no clock overflows
  metadata["deletionTimestamp"] = world.Now(std::chrono::seconds(std::min(grace, kCentury)));
  if (!is_namespace) metadata["deletionGracePeriodSeconds"] = grace;
  if (is_new && RulesOf(resource).generation != KindRules::Generation::kNone) {
    metadata["generation"] = metadata.value("generation", 0) + 1;
  }
  if (is_namespace) object["status"]["phase"] = "Terminating";
  return object;
}

}  // namespace kopp::apiserver
