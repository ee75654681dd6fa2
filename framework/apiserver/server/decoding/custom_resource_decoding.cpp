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
  NormalizeNumbers(*metadata);
  std::vector<std::string> unknown = PruneMetadata(object, path);
  DecodeTyped(*metadata, *Schemas::BuiltIn().Find("ObjectMeta"));
  return unknown;
}

}  // namespace

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
  const json before = *metadata;
  try {
    return DecodeMetadata(resource, path);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(
        fmt::format("{}metadata: Invalid value: {}: {}", prefix, before.dump(), error.what()));
  }
}

std::vector<std::string> DecodeCustomResource(json& object, const Schema& schema) {
  std::vector<std::string> unknown;
  json metadata;
  if (const auto found = object.find("metadata"); found != object.end() && !found->is_null()) {
    unknown = DecodeMetadata(object, "");
    metadata = std::move(*found);
  }
  object.erase("metadata");
  NormalizeNumbers(object);
  std::ranges::move(Prune(object, schema, &DecodeEmbeddedResource), std::back_inserter(unknown));
  ApplySchemaDefaults(object, schema);
  if (!metadata.is_null()) object["metadata"] = std::move(metadata);
  std::ranges::sort(unknown);
  return unknown;
}

}  // namespace kopp::apiserver
