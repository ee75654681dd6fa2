#pragma once

#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

#include <string>

// Keywords and traversal of the OpenAPI v3 schemas in CRDs, for their validation.

namespace kopp::schema {

inline constexpr const char* kListType = "x-kubernetes-list-type";
inline constexpr const char* kListMapKeys = "x-kubernetes-list-map-keys";
inline constexpr const char* kMapType = "x-kubernetes-map-type";
inline constexpr const char* kPreserveUnknownFields = "x-kubernetes-preserve-unknown-fields";
inline constexpr const char* kEmbeddedResource = "x-kubernetes-embedded-resource";
inline constexpr const char* kIntOrStringKeyword = "x-kubernetes-int-or-string";

/// Calls `visit` with the schema of each property, of the items and of the additional properties.
template <typename Visitor>
void ForEachChildSchema(const FieldRef& schema, const Visitor& visit) {
  const FieldRef properties = schema["properties"];
  for (const std::string& name : properties.keys()) visit(properties.Key(name));
  for (const char* keyword : {"items", "additionalProperties"}) {
    if (schema[keyword].value().is_object()) visit(schema[keyword]);
  }
}

/// Calls `visit` with each nested value validation: a schema in allOf, anyOf, oneOf or not.
template <typename Visitor>
void ForEachNestedValueValidation(const FieldRef& schema, const Visitor& visit) {
  for (const char* keyword : {"allOf", "anyOf", "oneOf"}) {
    for (const FieldRef& nested : schema[keyword].items()) visit(nested);
  }
  if (schema["not"].exists()) visit(schema["not"]);
}

/// Requires that the type of `schema` is `type`; otherwise adds an error with `detail`.
void ValidateTypeIs(const char* type, const FieldRef& schema, const std::string& detail,
                    FieldErrors& errors);

/// Validates a nested value validation and all schemas in it. It may restrict values, but must not
/// specify what only the structural schema around it specifies, like types and defaults.
/// `may_specify_type`: the structural schema is x-kubernetes-int-or-string.
void ValidateNestedValueValidation(const FieldRef& schema, bool may_specify_type,
                                   FieldErrors& errors);

}  // namespace kopp::schema
