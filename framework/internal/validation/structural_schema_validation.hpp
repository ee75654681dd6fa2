#pragma once

#include "api/field_error.hpp"
#include "validation/field_ref.hpp"

namespace kopp::apiserver {

/// Validates that a CRD's openAPIV3Schema is a structural schema. Returns the errors that
/// kube-apiserver reports.
[[nodiscard]] FieldErrors ValidateStructuralSchema(const FieldRef& schema);

}  // namespace kopp::apiserver
