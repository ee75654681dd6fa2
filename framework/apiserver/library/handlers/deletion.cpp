#include "handlers/deletion.hpp"

#include "api/event_conversion.hpp"
#include "api/status.hpp"
#include "handlers/read_handler.hpp"
#include "handlers/write_handler.hpp"
#include "schema/finalizers.hpp"
#include "storage/stored_objects.hpp"
#include "validation/crd_status.hpp"
#include "validation/crd_validation.hpp"
#include "validation/kind_strategy.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
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

/// Returns whether the response to a delete is the object even if it was removed. For other kinds
/// it is a Status.
bool ReturnsDeletedObject(const Resource& resource) {
  constexpr std::string_view kKinds[] = {"pods",
                                         "services",
                                         "serviceaccounts",
                                         "persistentvolumeclaims",
                                         "persistentvolumes",
                                         "podtemplates",
                                         "resourcequotas",
                                         "csidrivers.storage.k8s.io",
                                         "csinodes.storage.k8s.io",
                                         "storageclasses.storage.k8s.io",
                                         "volumeattachments.storage.k8s.io",
                                         "volumeattributesclasses.storage.k8s.io"};
  return std::find(std::begin(kKinds), std::end(kKinds), resource.storage_resource) !=
         std::end(kKinds);
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

json MarkForDeletion(ServerContext& context, const Resource& resource, json object,
                     const DeleteOptions& options) {
  const bool is_namespace = resource.storage_resource == "namespaces";
  if (resource.storage_resource == kCrdStorageResource)
    return StartDeletion(std::move(object), context.Now());
  const std::vector<std::string> finalizers = FinalizersFor(resource, object, options);
  json& metadata = object["metadata"];
  metadata.erase("finalizers");
  if (!finalizers.empty()) metadata["finalizers"] = finalizers;
  const std::int64_t grace =
      StrategyOf(resource).deletes_gracefully ? GracePeriodOf(object, options.grace_period) : 0;
  const bool is_new = !metadata.contains("deletionTimestamp");
  if (!is_new && grace >= metadata.value("deletionGracePeriodSeconds", 0)) return object;
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

ServerResponse WriteHandler::Delete(const ServerRequest& request, const Resource& resource) {
  const DeleteOptions options = ReadDeleteOptions(request);
  const std::string& name = request.target.name;
  if (resource.storage_resource == "namespaces" &&
      (name == "default" || name == "kube-system" || name == "kube-public")) {
    throw Forbidden(resource, name, "this namespace may not be deleted");
  }
  if (resource.storage_resource == "priorityclasses.scheduling.k8s.io" &&
      name.starts_with("system-")) {
    throw Forbidden(resource, name, "this is a system priority class and cannot be deleted");
  }
  bool removed = false;
  json object = collector_.Delete(resource, {request.target.ns, name}, options, removed);
  if (removed && resource.group == "storage.k8s.io") {
    for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds"}) {
      object["metadata"].erase(field);
    }
  }
  if (!removed || ReturnsDeletedObject(resource)) {
    return {.body = ResponseObject(FromStorageVersion(resource, std::move(object)), resource)};
  }
  return {.body = SuccessStatus(resource, name, object["metadata"].value("uid", ""))};
}

ServerResponse WriteHandler::DeleteCollection(const ServerRequest& request,
                                              const Resource& resource) {
  const DeleteOptions options = ReadDeleteOptions(request);
  ServerRequest list = request;
  list.method = "GET";
  list.accept.clear();
  ReadHandler::ListResult listed = ReadHandler(context_).ListObjects(list, resource);
  for (const ObjectKey& key : listed.keys) {
    bool removed = false;
    try {
      collector_.Delete(resource, key, options, removed);
    } catch (const StatusError& error) {
      if (error.code() != 404) throw;  // another client has deleted the object
    }
  }
  return {.body = std::move(listed.body)};
}

}  // namespace kopp::apiserver
