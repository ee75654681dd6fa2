#pragma once

#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"
#include "schema/schema.hpp"

namespace kopp::schema {

/// Validates the Kubernetes extensions of a CRD's schema that OpenAPI does not have: embedded
/// resources, sets and list maps.
void ValidateKubernetesExtensions(const FieldRef& value, const Schema& schema, FieldErrors& errors);

}  // namespace kopp::schema
