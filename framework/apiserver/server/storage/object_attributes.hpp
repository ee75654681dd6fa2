#pragma once

#include "api/resource.hpp"
#include "storage/store.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns the attributes that the store keeps beside the text of `object`.
[[nodiscard]] ObjectAttributes ObjectAttributesOf(const Resource& resource,
                                                  const nlohmann::json& object);

}  // namespace kopp::apiserver
