#pragma once

#include "json/schema_names.hpp"
#include "pods/pod_context.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

namespace kopp::apiserver {

/// Validates the volumes and adds the valid ones to `context`.
void ValidatePodVolumes(PodContext& context, FieldErrors& errors);

}  // namespace kopp::apiserver
