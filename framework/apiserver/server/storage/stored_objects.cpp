#include "storage/stored_objects.hpp"

#include "api/event_conversion.hpp"
#include "api/selectable_fields.hpp"
#include "decoding/custom_resource_decoding.hpp"
#include "schema/finalizers.hpp"
#include "schema/pruning.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns the beginning of an object's JSON text, up to its second member.
std::string TypeMetaPrefix(const Resource& resource) {
  return R"({"kind":")" + resource.kind + R"(","apiVersion":")" + resource.api_version() + '"';
}

/// Removes the fields that the stored version or the version of `resource` does not have, and sets
/// the defaults of the stored version.
void ApplySchemas(json& object, const Resource& resource) {
  if (resource.stored_schema == nullptr) return;
  DecodeCustomResource(object, *resource.stored_schema);
  if (resource.stored_schema == resource.schema) return;
  json metadata = std::move(object["metadata"]);
  object.erase("metadata");
  Prune(object, *resource.schema);
  object["metadata"] = std::move(metadata);
}

}  // namespace

json ParseStoredObject(const std::string& text, const Resource& resource) {
  json object = json::parse(text);
  ApplySchemas(object, resource);
  return FromStorageVersion(resource, std::move(object));
}

std::string ResponseText(const std::string& text, const Resource& resource) {
  const bool is_unchanged = resource.stored_schema == nullptr && !NeedsConversion(resource);
  const std::string object = is_unchanged ? text : ParseStoredObject(text, resource).dump();
  return TypeMetaPrefix(resource) + (object.size() > 2 ? "," : "") + object.substr(1);
}

std::string ListItemText(const std::string& text, const Resource& resource) {
  if (NeedsConversion(resource)) return ParseStoredObject(text, resource).dump();
  return resource.built_in ? text : ResponseText(text, resource);
}

json ResponseObject(json object, const Resource& resource) {
  ApplySchemas(object, resource);
  object["kind"] = resource.kind;
  object["apiVersion"] = resource.api_version();
  return object;
}

ObjectAttributes ObjectAttributesOf(const Resource& resource, const json& object) {
  ObjectAttributes attributes;
  const json& metadata = object.at("metadata");
  attributes.uid = metadata.value("uid", "");
  if (const auto labels = metadata.find("labels"); labels != metadata.end()) {
    for (const auto& [name, value] : labels->items()) {
      attributes.labels.emplace(name, value.is_string() ? value.get<std::string>() : "");
    }
  }
  if (const auto owners = metadata.find("ownerReferences"); owners != metadata.end()) {
    std::set<std::string> uids;
    for (const json& owner : *owners) {
      const std::string uid = owner.value("uid", "");
      uids.insert(uid);
      if (owner.value("blockOwnerDeletion", false)) attributes.blocked_owners.push_back(uid);
    }
    attributes.owner_uids.assign(uids.begin(), uids.end());
  }
  const json finalizers = metadata.value("finalizers", json::array());
  attributes.foreground_deletion =
      metadata.contains("deletionTimestamp") &&
      std::find(finalizers.begin(), finalizers.end(), kForegroundFinalizer) != finalizers.end();
  attributes.fields = SelectableFieldValues(resource, object);
  return attributes;
}

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
