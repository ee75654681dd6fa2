#pragma once

#include "json/schema_names.hpp"
#include "pods/pod_context.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

namespace kopp::apiserver {

void ValidateContainerProbes(const FieldRef& container, const PodContext& context,
                             FieldErrors& errors);
void ValidateLifecycle(const FieldRef& lifecycle, const PodContext& context, FieldErrors& errors);

}  // namespace kopp::apiserver
