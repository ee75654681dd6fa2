#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

namespace kopp::apiserver {

/// Validates the fields of a Job that decide when it has failed or succeeded.
void ValidateJobPolicies(const FieldRef& job_spec, FieldErrors& errors);

}  // namespace kopp::apiserver
