#include "controllers/owner_events.hpp"

#include "controllers/system_objects.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

bool ExistsInAnyNamespace(ServerContext& context, const Resource& resource,
                          const std::string& uid) {
  const auto objects = context.store().List(resource.storage_resource, "").objects;
  return std::any_of(objects.begin(), objects.end(),
                     [&](const auto& entry) { return entry.second->attributes.uid == uid; });
}

}  // namespace

void ReportOwnerInOtherNamespace(ServerContext& context, const ObjectLocation& dependent,
                                 const json& metadata, const json& reference,
                                 const Resource& owner) {
  const std::string uid = reference.value("uid", "");
  const std::string& ns = dependent.key.ns;
  if (!owner.namespaced || ns.empty() || !ExistsInAnyNamespace(context, owner, uid)) return;
  const ResourcePtr resource = context.catalog()->FindByStorageResource(dependent.resource);
  if (resource == nullptr) return;
  const std::string now = context.Now();
  const std::string name = dependent.key.name;
  CreateObject(
      context, "events",
      {{"metadata", {{"name", context.GenerateName(name + '.')}, {"namespace", ns}}},
       {"involvedObject",
        {{"apiVersion", resource->api_version()},
         {"kind", resource->kind},
         {"namespace", ns},
         {"name", name},
         {"uid", metadata.value("uid", "")}}},
       {"type", "Warning"},
       {"reason", "OwnerRefInvalidNamespace"},
       {"message",
        fmt::format(
            R"(ownerRef [{}/{}, namespace: {}, name: {}, uid: {}] does not exist in namespace "{}")",
            reference.value("apiVersion", ""), reference.value("kind", ""), ns,
            reference.value("name", ""), uid, ns)},
       {"source", {{"component", "garbage-collector-controller"}}},
       {"firstTimestamp", now},
       {"lastTimestamp", now},
       {"count", 1},
       {"eventTime", nullptr},
       {"reportingComponent", "garbage-collector-controller"},
       {"reportingInstance", ""}});
}

}  // namespace kopp::apiserver
