#pragma once

#include "json/schema_names.hpp"
#include "pods/pod_context.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

#include <string>

namespace kopp::apiserver {

/// Validates the name of a resource of containers: "cpu", "example.com/gpu".
void ValidateContainerResourceName(const std::string& name, const std::string& path,
                                   FieldErrors& errors);
/// Validates the limits, requests and claims of a container.
void ValidateContainerResources(const FieldRef& resources, const PodContext& context,
                                FieldErrors& errors);
/// Validates the limits and requests of the whole Pod.
void ValidatePodResources(const PodContext& context, FieldErrors& errors);
void ValidateResizePolicies(const FieldRef& policies, const PodContext& context,
                            FieldErrors& errors);

}  // namespace kopp::apiserver
