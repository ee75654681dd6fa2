#include "controllers/system_objects.hpp"

#include "decoding/data.hpp"
#include "storage/object_attributes.hpp"

namespace kopp::apiserver {

using nlohmann::json;

void CreateObject(ServerContext& context, const std::string& storage_resource, json object) {
  json& metadata = object["metadata"];
  metadata["uid"] = context.NewUid();
  metadata["creationTimestamp"] = context.Now();
  if (object.contains(json::json_pointer("/status/conditions"))) {
    for (json& each : object["status"]["conditions"]) each["lastTransitionTime"] = context.Now();
  }
  const ObjectKey key{metadata.value("namespace", ""), metadata.at("name")};
  const ResourcePtr resource = context.catalog()->FindByStorageResource(storage_resource);
  const ObjectAttributes attributes = ObjectAttributesOf(*resource, object);
  context.store().Put(storage_resource, key, nullptr, object, attributes);
}

void CreateSystemObjects(ServerContext& context) {
  static const json objects = json::parse(data::system_objects);
  for (const json& each : objects.at("system")) CreateObject(context, each.at(0), each.at(1));
  if (!context.uses_rbac()) return;
  for (const json& each : objects.at("rbac")) CreateObject(context, each.at(0), each.at(1));
}

}  // namespace kopp::apiserver
