#include "decoding/custom_resource_decoding.hpp"

#include "decoding/typed_decoding.hpp"
#include "json/go_values.hpp"
#include "schema/pruning.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Decodes the metadata of `object` as ObjectMeta. Returns the paths of its unknown fields.
std::vector<std::string> DecodeMetadata(json& object, const std::string& path) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end()) return {};
  if (!metadata->is_object()) {
    throw std::invalid_argument(fmt::format(
        "json: cannot unmarshal {} into Go value of type v1.ObjectMeta", GoJsonType(*metadata)));
  }
  std::vector<std::string> unknown = schema::PruneMetadata(object, path);
  DecodeTyped(*metadata, *schema::Schemas::BuiltIn().Find("ObjectMeta"));
  return unknown;
}

/// Implements schema::EmbeddedResourceDecoder.
std::vector<std::string> DecodeEmbeddedResource(json& resource, const std::string& path) {
  const std::string prefix = path.empty() ? "" : path + '.';
  for (const char* name : {"apiVersion", "kind"}) {
    const auto found = resource.find(name);
    if (found == resource.end() || found->is_string()) continue;
    throw std::invalid_argument(
        fmt::format("{}{}: Invalid value: {}: must be a string", prefix, name, found->dump()));
  }
  const auto metadata = resource.find("metadata");
  if (metadata == resource.end()) return {};
  if (metadata->is_null()) *metadata = json::object();
  const std::string before = metadata->dump();
  try {
    return DecodeMetadata(resource, path);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(
        fmt::format("{}metadata: Invalid value: {}: {}", prefix, before, error.what()));
  }
}

}  // namespace

std::vector<std::string> DecodeCustomResource(json& object, const schema::Schema& schema) {
  schema::NormalizeNumbers(object);
  std::vector<std::string> unknown;
  json metadata;
  if (const auto found = object.find("metadata"); found != object.end() && !found->is_null()) {
    unknown = DecodeMetadata(object, "");
    metadata = std::move(*found);
  }
  object.erase("metadata");
  std::ranges::move(schema::Prune(object, schema, &DecodeEmbeddedResource),
                    std::back_inserter(unknown));
  schema::ApplySchemaDefaults(object, schema);
  if (!metadata.is_null()) object["metadata"] = std::move(metadata);
  std::ranges::sort(unknown);
  return unknown;
}

}  // namespace kopp::apiserver
