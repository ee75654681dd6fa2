#pragma once

#include "schema/field_ref.hpp"

#include <string_view>

namespace kopp::schema {

enum class ArrayNotation {
  kForbidden,
  kAllowed,  ///< ['name'] is the same as .name
};

/// Returns the schema of the field at `path`, such as ".spec.size", in the OpenAPI schema of an
/// object. Throws std::invalid_argument, with the message of kube-apiserver, if there is none.
[[nodiscard]] FieldRef SchemaAtPath(const FieldRef& schema, std::string_view path,
                                    ArrayNotation array_notation);

}  // namespace kopp::schema
