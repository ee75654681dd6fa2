#pragma once

#include "api/field_error.hpp"
#include "schema/schema.hpp"
#include "validation/field_ref.hpp"

namespace kopp::apiserver {

/// Validates the Kubernetes extensions of a CRD's schema that OpenAPI does not have: embedded
/// resources, sets and list maps.
void ValidateKubernetesExtensions(const FieldRef& value, const Schema& schema, FieldErrors& errors);

}  // namespace kopp::apiserver
