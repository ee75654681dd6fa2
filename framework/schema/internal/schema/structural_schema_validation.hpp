#pragma once

#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

#include <string>
#include <vector>

namespace kopp::schema {

/// Validates that a CRD's openAPIV3Schema is a structural schema. Returns the errors that
/// kube-apiserver reports.
[[nodiscard]] FieldErrors ValidateStructuralSchema(const FieldRef& schema);

/// Returns the formats of strings in a CRD's openAPIV3Schema that kube-apiserver does not know and
/// therefore does not validate. A format may be in the result more than once.
[[nodiscard]] std::vector<std::string> UnknownStringFormats(const FieldRef& schema);

}  // namespace kopp::schema
