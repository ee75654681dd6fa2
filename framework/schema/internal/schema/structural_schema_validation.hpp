#pragma once

#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

namespace kopp::schema {

/// Validates that a CRD's openAPIV3Schema is a structural schema. Returns the errors that
/// kube-apiserver reports.
[[nodiscard]] FieldErrors ValidateStructuralSchema(const FieldRef& schema);

}  // namespace kopp::schema
