// Deletions.
#include "definition_rules.hpp"
#include "definitions.hpp"
#include "metadata_rules.hpp"
#include "objects.hpp"
#include "reads.hpp"
#include "status.hpp"
#include "writes.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kOrphan = "orphan";
constexpr const char* kForeground = "foregroundDeletion";

/// The kind, as this one message names it.
Refusal PreconditionFailed(const Resource& resource, const std::string& name,
                           const std::string& what) {
  Resource named;
  named.plural = resource.kind;
  named.group = resource.group;
  return Conflict(named, name, what);
}

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

/// The finalizers with those that the way of deletion wants, and without those that it does not.
std::vector<std::string> FinalizersFor(const Resource& resource, const json& object,
                                       const DeleteOptions& options) {
  std::vector<std::string> finalizers = FinalizersOf(object);
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

/// These are answered with the object even when it is gone.
bool ShowsWhatItDeletes(const Resource& resource) {
  constexpr std::string_view kKinds[] = {"pods",
                                         "services",
                                         "serviceaccounts",
                                         "persistentvolumeclaims",
                                         "persistentvolumes",
                                         "podtemplates",
                                         "resourcequotas"};
  return std::find(std::begin(kKinds), std::end(kKinds), resource.kept_as) != std::end(kKinds);
}

}  // namespace

// Marks the object for deletion; `gone` where nothing keeps it.
json Writes::Marked(const Resource& resource, json object, const DeleteOptions& options,
                    bool& gone) {
  const bool is_namespace = resource.kept_as == "namespaces";
  if (resource.kept_as == kDefinitions) {
    gone = false;
    return Terminated(std::move(object), world_.Now());
  }
  const std::vector<std::string> finalizers = FinalizersFor(resource, object, options);
  json& metadata = object["metadata"];
  metadata.erase("finalizers");
  if (!finalizers.empty()) metadata["finalizers"] = finalizers;
  const std::int64_t grace =
      RulesOf(resource).graceful ? GracePeriodOf(object, options.grace_period) : 0;
  gone = finalizers.empty() && grace == 0 && !KeepsNamespace(resource, object);
  const bool is_new = !metadata.contains("deletionTimestamp");
  if (!is_new && grace >= metadata.value("deletionGracePeriodSeconds", 0)) return object;
  metadata["deletionTimestamp"] = world_.Now(std::chrono::seconds(grace));
  if (!is_namespace) metadata["deletionGracePeriodSeconds"] = grace;
  if (is_new && RulesOf(resource).generation != KindRules::Generation::kNone) {
    metadata["generation"] = metadata.value("generation", 0) + 1;
  }
  if (is_namespace) object["status"]["phase"] = "Terminating";
  return object;
}

json Writes::DeleteOne(const Resource& resource, const ObjectKey& key, const DeleteOptions& options,
                       bool& gone) {
  for (;;) {
    const StoredPtr seen = world_.store().Get(resource.kept_as, key);
    if (seen == nullptr) throw NotFound(resource, key.name);
    const json live = json::parse(seen->text);
    CheckPreconditions(resource, key.name, live.at("metadata"), options);
    json object = Marked(resource, live, options, gone);
    if (options.dry_run || (!gone && object == live)) return object;
    if (gone) {
      if (world_.store().Remove(resource.kept_as, key, seen, live) == nullptr) continue;
    } else {
      const Attributes attributes = AttributesOf(resource, object);
      const StoredPtr stored =
          world_.store().Put(resource.kept_as, key, seen, std::move(object), attributes);
      if (stored == nullptr) continue;
      object = json::parse(stored->text);
    }
    Settle(resource, key, object, gone);
    return object;
  }
}

Reply Writes::Delete(const Ask& ask, const Resource& resource) {
  const DeleteOptions options = ReadDeleteOptions(ask);
  const std::string& name = ask.target.name;
  if (resource.kept_as == "namespaces" &&
      (name == "default" || name == "kube-system" || name == "kube-public")) {
    throw Forbidden(resource, name, "this namespace may not be deleted");
  }
  bool gone = false;
  const json object = DeleteOne(resource, {ask.target.ns, name}, options, gone);
  if (!gone || ShowsWhatItDeletes(resource)) return {.body = Shown(object, resource).dump()};
  return {.body = Success(resource, name, object["metadata"].value("uid", "")).dump()};
}

Reply Writes::DeleteCollection(const Ask& ask, const Resource& resource) {
  const DeleteOptions options = ReadDeleteOptions(ask);
  Ask list = ask;
  list.method = "GET";
  list.accept.clear();
  const Reply listed = Reads(world_).ListNow(list, resource);
  const json before = json::parse(listed.body);
  for (const json& item : before.at("items")) {
    const json& metadata = item.at("metadata");
    bool gone = false;
    try {
      DeleteOne(resource, {metadata.value("namespace", ""), metadata.value("name", "")}, options,
                gone);
    } catch (const Refusal& refusal) {
      if (refusal.code() != 404) throw;  // somebody else was faster
    }
  }
  return {.body = listed.body};
}

}  // namespace kopp::apiserver
