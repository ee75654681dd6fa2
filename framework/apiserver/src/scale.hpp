#pragma once

#include "resource.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// autoscaling/v1 Scale: what the subresource "scale" of every kind is read and shown as.
[[nodiscard]] const Resource& ScaleKind();

/// The Scale of an object.
[[nodiscard]] nlohmann::json ScaleOf(const Resource& resource, const nlohmann::json& object);

/// `object` with the replicas of `scale`. Throws a Refusal for fewer than none.
[[nodiscard]] nlohmann::json Scaled(const Resource& resource, nlohmann::json object,
                                    const nlohmann::json& scale);

}  // namespace kopp::apiserver
