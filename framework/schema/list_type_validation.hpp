#pragma once

#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

namespace kopp::schema {

/// Validates x-kubernetes-list-type and x-kubernetes-list-map-keys of a CRD's schema: the list
/// type, the items that it requires, and the map keys.
void ValidateListType(const FieldRef& schema, FieldErrors& errors);

}  // namespace kopp::schema
