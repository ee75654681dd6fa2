#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

namespace kopp::apiserver {

void ValidatePodSecurityContext(const FieldRef& spec, FieldErrors& errors);
void ValidateContainerSecurityContext(const FieldRef& security, const FieldRef& spec,
                                      FieldErrors& errors);

}  // namespace kopp::apiserver
