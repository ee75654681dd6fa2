#pragma once

#include "json/schema_names.hpp"
#include "schema/schema.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Decodes a custom resource: removes unknown fields and nulls that are not nullable, and applies
/// defaults. Decodes metadata like that of a built-in kind, also in embedded resources. Returns the
/// sorted paths of the removed unknown fields. Throws std::invalid_argument, with the same message
/// as kube-apiserver, if metadata is invalid, or apiVersion, kind or metadata of an embedded
/// resource.
std::vector<std::string> DecodeCustomResource(nlohmann::json& object, const Schema& schema);

/// Decodes apiVersion, kind and metadata of the embedded resource at `path`. Returns the paths of
/// the removed unknown fields. Replaces metadata that is null by {}. Throws std::invalid_argument,
/// with the same message as kube-apiserver, if one of the three is invalid.
std::vector<std::string> DecodeEmbeddedResource(nlohmann::json& resource, const std::string& path);

}  // namespace kopp::apiserver
