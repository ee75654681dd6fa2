#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

namespace kopp::apiserver {

/// Validates the terms of which one selects a node.
void ValidateNodeSelector(const FieldRef& selector, FieldErrors& errors);
void ValidateAffinity(const FieldRef& affinity, FieldErrors& errors);
void ValidateTopologySpreadConstraints(const FieldRef& constraints, FieldErrors& errors);
void ValidateTolerations(const FieldRef& tolerations, FieldErrors& errors);
/// Validates the labels that a selector takes from the Pod.
void ValidateMatchLabelKeys(const FieldRef& owner, FieldErrors& errors);

}  // namespace kopp::apiserver
