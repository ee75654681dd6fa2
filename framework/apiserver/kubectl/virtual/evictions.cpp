// Evictions of Pods.
#include "api/conditions.hpp"
#include "api/status.hpp"
#include "controllers/deletion.hpp"
#include "controllers/garbage_collector.hpp"
#include "handlers/write_handler.hpp"
#include "schema/accessors.hpp"
#include "schema/field_ref.hpp"
#include "schema/field_validation.hpp"
#include "schema/finalizers.hpp"
#include "virtual/virtual_kinds.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr int kMaxEvictionAttempts = 20;  // of a write that another write conflicts with
constexpr const char* kBudgets = "poddisruptionbudgets.policy";

/// Returns the DeleteOptions of an eviction. Its dry run can also be requested in the query.
json DeleteOptionsOf(const json& eviction, const Query& query) {
  const auto format = [](const std::vector<std::string>& values) {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : " ") + value;
    return '[' + text + ']';
  };
  json options = Field(eviction, "deleteOptions");
  if (options.is_null()) options = json::object();
  const std::vector<std::string> in_query = query.All("dryRun");
  const std::vector<std::string> in_body = StringListField(options, "dryRun");
  if (in_body.empty() && !in_query.empty()) options["dryRun"] = in_query;
  if (!in_body.empty() && !in_query.empty() && in_body != in_query) {
    throw StatusError(500, "",
                      "Non-matching dry-run options in request and content: " + format(in_query) +
                          " and " + format(in_body));
  }
  return options;
}

bool IsPodReady(const json& pod) {
  const json& conditions = ValueAt(pod, "/status/conditions");
  return std::any_of(conditions.begin(), conditions.end(), [](const json& condition) {
    return StringField(condition, "type") == "Ready" && StringField(condition, "status") == "True";
  });
}

bool IsPending(const json& pod) { return StringAt(pod, "/status/phase") == "Pending"; }

/// Returns whether the eviction of the Pod disrupts nothing, because it does not run.
bool IgnoresBudgets(const json& pod) {
  const std::string phase = StringAt(pod, "/status/phase");
  return phase == "Succeeded" || phase == "Failed" || IsPending(pod) || IsBeingDeleted(pod);
}

/// Returns the error for a Pod whose budget allows no disruption.
StatusError TooManyDisruptions(const std::string& cause, bool retry) {
  json details{{"causes", json::array({{{"reason", "DisruptionBudget"}, {"message", cause}}})}};
  if (retry) details["retryAfterSeconds"] = 10;
  return {429, "TooManyRequests",
          "Cannot evict pod as it would violate the pod's disruption budget.", std::move(details)};
}

/// Returns the PodDisruptionBudget that selects the Pod, or null. Throws StatusError (500) if there
/// are several.
json FindBudget(ServerContext& context, const ObjectKey& key, const json& pod) {
  const FieldRef labels = FieldRef(pod)["metadata"]["labels"];
  if (labels.size() == 0) return nullptr;
  json found;
  const Store::Snapshot snapshot = context.store().List(kBudgets, key.ns);
  for (const auto& [budget_key, stored] : snapshot.objects) {
    json budget = json::parse(stored->text);
    if (!SelectorMatches(FieldRef(budget)["spec"]["selector"], labels)) continue;
    if (!found.is_null()) {
      throw StatusError(500, "",
                        "This pod has more than one PodDisruptionBudget, which the eviction "
                        "subresource does not support.");
    }
    found = std::move(budget);
  }
  return found;
}

/// Returns whether a Pod that is not ready may be evicted although its budget allows no disruption.
bool AllowsUnhealthyEviction(const json& budget) {
  if (StringAt(budget, "/spec/unhealthyPodEvictionPolicy") == "AlwaysAllow") return true;
  const std::int64_t desired = IntegerAt(budget, "/status/desiredHealthy");
  return desired > 0 && IntegerAt(budget, "/status/currentHealthy") >= desired;
}

/// Throws StatusError (429) if the budget allows no disruption.
void CheckDisruptionAllowed(const json& budget) {
  const std::string name = StringAt(budget, "/metadata/name");
  if (IntegerAt(budget, "/status/observedGeneration") < IntegerAt(budget, "/metadata/generation")) {
    throw TooManyDisruptions(
        "The disruption budget " + name + " is still being processed by the server.", true);
  }
  if (IntegerAt(budget, "/status/disruptionsAllowed") > 0) return;
  throw TooManyDisruptions(
      fmt::format("The disruption budget {} needs {} healthy pods and has {} currently", name,
                  IntegerAt(budget, "/status/desiredHealthy"),
                  IntegerAt(budget, "/status/currentHealthy")),
      false);
}

void UpdateBudgetStatus(ServerContext& context, const json& budget) {
  const ResourcePtr budgets = context.catalog()->Find("policy", "v1", "poddisruptionbudgets");
  const ServerRequest request{
      .method = "PUT",
      .target = ParseRequestInfo(
          "/apis/policy/v1/namespaces/" + StringAt(budget, "/metadata/namespace") +
          "/poddisruptionbudgets/" + StringAt(budget, "/metadata/name") + "/status"),
      .body = budget.dump(),
      .content_type = "application/json",
      .user_agent = "kube-apiserver"};
  Warnings warnings;
  WriteHandler(context).Update(request, *budgets, warnings);
}

/// Takes one disruption from the PodDisruptionBudget of the Pod, if there is one. Returns false if
/// the Pod does not count because it is not ready. Throws StatusError (429) if the budget allows no
/// disruption.
bool TakeDisruption(ServerContext& context, const ObjectKey& key, const json& pod, bool dry_run) {
  for (int attempt = 0;; ++attempt) {
    json budget = FindBudget(context, key, pod);
    if (budget.is_null()) return true;
    if (!IsPodReady(pod) && AllowsUnhealthyEviction(budget)) return false;
    CheckDisruptionAllowed(budget);
    if (dry_run) return true;
    json& status = budget["status"];
    const std::int64_t allowed = IntegerAt(status, "/disruptionsAllowed") - 1;
    status["disruptionsAllowed"] = allowed;
    status["disruptedPods"][key.name] = context.Now();
    if (allowed == 0) {
      SetObjectCondition(status["conditions"],
                         {{"type", "DisruptionAllowed"},
                          {"status", "False"},
                          {"reason", "InsufficientPods"},
                          {"message", ""},
                          {"observedGeneration", IntegerAt(status, "/observedGeneration")}},
                         context.Now());
    }
    try {
      UpdateBudgetStatus(context, budget);
      return true;
    } catch (const StatusError& error) {
      if (error.code() != 409 || attempt == kMaxEvictionAttempts) throw;
    }
  }
}

/// Adds the condition DisruptionTarget to a Pod and deletes it.
void DeleteEvictedPod(ServerContext& context, const Resource& pods, const ObjectKey& key,
                      DeleteOptions options) {
  if (!options.dry_run) {
    const json updated = UpdateStoredPod(context, pods, key, [&](json& pod) {
      CheckPreconditions(pods, key.name, pod.at("metadata"), options);
      SetObjectCondition(pod["status"]["conditions"],
                         {{"type", "DisruptionTarget"},
                          {"status", "True"},
                          {"lastProbeTime", nullptr},
                          {"reason", "EvictionByEvictionAPI"},
                          {"message", "Eviction API: evicting"}},
                         context.Now());
    });
    if (!options.resource_version.empty()) {
      options.resource_version = StringAt(updated, "/metadata/resourceVersion");
    }
  }
  bool removed = false;
  GarbageCollector(context).Delete(pods, key, options, removed);
}

/// Evicts a Pod, once. Returns false if the Pod has changed meanwhile, so that its state allows no
/// decision.
bool TryEvict(ServerContext& context, const Resource& pods, const ObjectKey& key,
              const json& options) {
  const StoredObjectPtr stored = context.store().Get(pods.storage_resource, key);
  if (stored == nullptr) throw NotFound(pods, key.name);
  DeleteOptions deletion = ParseDeleteOptions(options);
  const json pod = json::parse(stored->text);
  const bool is_pending = IsPending(pod) && !IsBeingDeleted(pod);
  const bool must_be_unchanged =
      IgnoresBudgets(pod) ? is_pending : !TakeDisruption(context, key, pod, deletion.dry_run);
  const bool is_conditional = !deletion.resource_version.empty();
  if (must_be_unchanged && !is_conditional) {
    deletion.resource_version = StringAt(pod, "/metadata/resourceVersion");
  }
  try {
    DeleteEvictedPod(context, pods, key, std::move(deletion));
  } catch (const StatusError& error) {
    const bool has_changed = context.store().Get(pods.storage_resource, key) != stored;
    if (error.code() != 409 || !must_be_unchanged || is_conditional || !has_changed) throw;
    return false;
  }
  return true;
}

}  // namespace

json Evict(const VirtualRequest& params) {
  const RequestInfo& target = params.write.target;
  if (StringAt(params.object, "/metadata/name") != target.name) {
    throw BadRequest("name in URL does not match name in Eviction object");
  }
  const json options = DeleteOptionsOf(params.object, target.query);
  const ResourcePtr pods = params.context.catalog()->Find("", "v1", "pods");
  const ObjectKey key{target.ns, target.name};
  for (int attempt = 0; !TryEvict(params.context, *pods, key, options); ++attempt) {
    if (attempt == kMaxEvictionAttempts) throw ResourceVersionConflict(*pods, key.name);
  }
  return nullptr;
}

}  // namespace kopp::apiserver
