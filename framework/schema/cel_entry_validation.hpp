#pragma once

#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

namespace kopp::schema {

/// Validates the fields of the entries of x-kubernetes-validations of a schema, except that it does
/// not compile their CEL expressions.
void ValidateCelEntries(const FieldRef& schema, FieldErrors& errors);

}  // namespace kopp::schema
