#pragma once

#include "api/resource.hpp"
#include "api/response.hpp"

#include <string>

#include <nlohmann/json.hpp>

// Validation of the objects that writes make, by the rules for metadata and those of the kind. Each
// function adds warnings for the client, and throws StatusError (422) if the object is invalid.

namespace kopp::apiserver {

void ValidateNewObject(const Resource& resource, const nlohmann::json& object, Warnings& warnings);

/// Validates an update of an object from `live`, of its status or of another subresource.
void ValidateUpdatedObject(const Resource& resource, const std::string& subresource,
                           const nlohmann::json& live, const nlohmann::json& object,
                           Warnings& warnings);

}  // namespace kopp::apiserver
