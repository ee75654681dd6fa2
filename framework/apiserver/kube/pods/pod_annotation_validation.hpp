#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns the AppArmor profile that an annotation of a container selects, or null if it is
/// invalid.
[[nodiscard]] nlohmann::json AppArmorProfileOf(const std::string& annotation);
/// Validates annotations that have a meaning in Pods.
void ValidatePodAnnotations(const FieldRef& annotations, const FieldRef& spec, FieldErrors& errors);
/// Requires that the annotations of seccomp and AppArmor profiles are equal to their fields.
void ValidateProfileAnnotations(const FieldRef& annotations, const FieldRef& spec,
                                FieldErrors& errors);

}  // namespace kopp::apiserver
