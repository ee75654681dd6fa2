#pragma once

#include "api/resource.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns the kind autoscaling/v1 Scale, which the subresource "scale" of every kind has.
[[nodiscard]] const Resource& ScaleKind();

/// Returns the Scale of an object. Throws StatusError (500) if a custom resource has no replicas
/// field.
[[nodiscard]] nlohmann::json ScaleOf(const Resource& resource, const nlohmann::json& object);

/// Returns `object` with the replicas of `scale`. Throws StatusError (422) for a negative number.
[[nodiscard]] nlohmann::json WithReplicas(const Resource& resource, nlohmann::json object,
                                          const nlohmann::json& scale);

}  // namespace kopp::apiserver
