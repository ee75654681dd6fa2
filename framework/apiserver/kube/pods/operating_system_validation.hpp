#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

namespace kopp::apiserver {

void ValidateWindowsOptions(const FieldRef& options, FieldErrors& errors);
/// Validates the HostProcess containers of Windows.
void ValidateHostProcessContainers(const FieldRef& spec, FieldErrors& errors);
/// Validates spec.os, and that no field is set that only another operating system has.
void ValidateOs(const FieldRef& spec, FieldErrors& errors);

}  // namespace kopp::apiserver
