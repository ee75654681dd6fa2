#include "api/event_conversion.hpp"
#include "api/status.hpp"
#include "handlers/read_handler.hpp"
#include "handlers/write_handler.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

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
