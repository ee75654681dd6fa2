#include "storage/stored_objects.hpp"

#include "api/event_conversion.hpp"
#include "schema/finalizers.hpp"
#include "storage/object_attributes.hpp"

#include <utility>

namespace kopp::apiserver {

using nlohmann::json;

bool PutObject(Store& store, const Resource& resource, const ObjectKey& key,
               const StoredObjectPtr& expected, json& object) {
  object = ToStorageVersion(resource, std::move(object));
  const StoredObjectPtr stored = store.Put(resource.storage_resource, key, expected, object,
                                           ObjectAttributesOf(resource, object));
  object = FromStorageVersion(resource, std::move(object));
  return stored != nullptr;
}

json EmptyStatus(const Resource& resource) {
  const Schema::Field* status = resource.schema->Find("status");
  if (status == nullptr || !status->always_present) return json::object();
  return {{"status", Schema::EmptyObject(*status->schema)}};
}

bool IsReadyForRemoval(const Resource& resource, const json& object) {
  const json& metadata = object.at("metadata");
  const json::json_pointer namespace_finalizers("/spec/finalizers");
  return metadata.contains("deletionTimestamp") && FinalizersOf(object).empty() &&
         metadata.value("deletionGracePeriodSeconds", 0) == 0 &&
         (resource.storage_resource != "namespaces" ||
          object.value(namespace_finalizers, json::array()).empty());
}

json SuccessStatus(const Resource& resource, const std::string& name, const std::string& uid) {
  json details{{"name", name}, {"kind", resource.plural}, {"uid", uid}};
  if (!resource.group.empty()) details["group"] = resource.group;
  return {{"kind", "Status"},
          {"apiVersion", "v1"},
          {"metadata", json::object()},
          {"status", "Success"},
          {"details", details}};
}

}  // namespace kopp::apiserver
