#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

#include <string>
#include <vector>

namespace kopp::apiserver {

void ValidateContainerEnv(const FieldRef& container, FieldErrors& errors);
/// Validates a reference to a field of the Pod. `supported` are the fields without a subscript.
void ValidateObjectFieldRef(const FieldRef& reference, const std::vector<std::string>& supported,
                            FieldErrors& errors);
/// Validates a reference to a limit or request of a container.
void ValidateResourceFieldRef(const FieldRef& reference, bool needs_container, FieldErrors& errors);

}  // namespace kopp::apiserver
