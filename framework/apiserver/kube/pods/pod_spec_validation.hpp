#pragma once

#include "json/schema_names.hpp"
#include "pods/pod_context.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

namespace kopp::apiserver {

/// Validates the Pod template of a workload.
void ValidatePodTemplate(const FieldRef& pod_template, FieldErrors& errors);
void ValidatePodSpec(PodContext context, FieldErrors& errors);

}  // namespace kopp::apiserver
