#pragma once

#include "api/field_error.hpp"
#include "validation/field_ref.hpp"

namespace kopp::apiserver {

/// Validates x-kubernetes-list-type and x-kubernetes-list-map-keys of a CRD's schema: the list
/// type, the items that it requires, and the map keys.
void ValidateListType(const FieldRef& schema, FieldErrors& errors);

}  // namespace kopp::apiserver
