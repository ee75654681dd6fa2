#pragma once

#include "json/schema_names.hpp"
#include "pods/pod_context.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"
#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategy of the subresource ephemeralcontainers.
void AddPodSubresourceStrategies(StrategiesByKind& strategies);
/// Validates the containers and init containers.
void ValidateContainers(const PodContext& context, FieldErrors& errors);
void ValidateEphemeralContainers(const PodContext& context, FieldErrors& errors);
/// Validates the ports of containers in the network of their node.
void ValidateHostNetwork(const PodContext& context, FieldErrors& errors);
/// Requires an image without white space around it.
void ValidateImagePadding(const FieldRef& container, FieldErrors& errors);

}  // namespace kopp::apiserver
