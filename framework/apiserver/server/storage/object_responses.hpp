#pragma once

#include "api/resource.hpp"

#include <string>

#include <nlohmann/json.hpp>

// Stored objects as responses have them: in the version of the request.

namespace kopp::apiserver {

/// Parses the stored text of an object and converts it to the version of `resource`. A custom
/// resource whose schema may have changed is pruned and defaulted by its current schema.
[[nodiscard]] nlohmann::json ParseStoredObject(const std::string& text, const Resource& resource);

/// Returns the JSON text of an object in a response: the stored text with apiVersion and kind.
[[nodiscard]] std::string ResponseText(const std::string& text, const Resource& resource);
/// Returns the JSON text of an object in a list. Items of built-in kinds have no apiVersion and no
/// kind there.
[[nodiscard]] std::string ListItemText(const std::string& text, const Resource& resource);
/// Returns an object in a response, with apiVersion and kind.
[[nodiscard]] nlohmann::json ResponseObject(nlohmann::json object, const Resource& resource);

}  // namespace kopp::apiserver
