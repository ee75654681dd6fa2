#pragma once

#include "schema/field_ref.hpp"
#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// The storage resource of CustomResourceDefinitions.
inline constexpr const char* kCrdStorageResource = "customresourcedefinitions.apiextensions.k8s.io";

/// Returns the strategy of CustomResourceDefinitions: their defaults, their validation, and the
/// fields that are immutable once a CRD is established.
[[nodiscard]] KindStrategy CrdStrategy();

/// Validates the conversion in the spec of a CustomResourceDefinition.
void ValidateCrdConversion(const FieldRef& spec, FieldErrors& errors);

}  // namespace kopp::apiserver
