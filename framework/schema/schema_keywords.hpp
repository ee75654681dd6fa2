#pragma once

#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"
#include "schema/pattern.hpp"
#include "schema/schema.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

// Keywords and traversal of the OpenAPI v3 schemas in CRDs, for their validation.

namespace kopp::schema {

/// The constraints of a CRD's schema on a value, beyond its type.
struct SchemaConstraints {
  nlohmann::json keywords{};  ///< "minimum", "maxLength", "enum", …, as in the schema
  std::optional<Pattern> pattern{};
  std::vector<std::string> required{};
  nlohmann::json default_value{};  ///< replaces null in a list or a map, unless it is null itself
  // Schemas without types: the types are in the schema that contains them.
  std::vector<const Schema*> all_of{};
  std::vector<const Schema*> any_of{};
  std::vector<const Schema*> one_of{};
  const Schema* not_schema = nullptr;  ///< "not"

  /// Returns the value of a keyword, or nullptr if the schema does not have it.
  [[nodiscard]] const nlohmann::json* Find(std::string_view keyword) const {
    const auto found = keywords.find(keyword);
    return found == keywords.end() || found->is_null() ? nullptr : &*found;
  }
};

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

/// Requires that the type of `schema` is `type`; otherwise adds an error with `detail`.
void ValidateTypeIs(const char* type, const FieldRef& schema, const std::string& detail,
                    FieldErrors& errors);

/// Validates the pattern of a schema and its nested value validations, with all schemas in them.
/// These may restrict values, but must not specify what only the structural schema around them
/// specifies, like types and defaults. The exception is anyOf with the types integer and string,
/// also in the first schema of allOf.
void ValidateValueValidations(const FieldRef& schema, FieldErrors& errors);

// The keyword multipleOf, with the arithmetic of kube-apiserver.

/// Returns the factor that is used for `value`. For an integer value, kube-apiserver drops the
/// fraction of the factor, and rejects the value if the rest is 0.
[[nodiscard]] nlohmann::json EffectiveFactor(const nlohmann::json& value,
                                             const nlohmann::json& factor);

/// Returns whether `value` is a multiple of `factor`, whose EffectiveFactor() is not 0. Values that
/// are not integers are compared as Go's float64, with a relative tolerance of 1e-9. Returns false
/// if the quotient is 2^53 or more.
[[nodiscard]] bool IsMultipleOf(const nlohmann::json& value, const nlohmann::json& factor);

}  // namespace kopp::schema
