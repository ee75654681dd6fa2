#include "storage/object_responses.hpp"

#include "api/event_conversion.hpp"
#include "decoding/custom_resource_decoding.hpp"
#include "schema/pruning.hpp"

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
  Prune(object, *resource.schema, &DecodeEmbeddedResource);
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

}  // namespace kopp::apiserver
