#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <kopp/k8s/list.hpp>
#include <kopp/k8s/optional.hpp>

namespace kopp::k8s::apiextensions::v1 {

struct JSONSchemaProps;

/// A schema, or whether any value is allowed: `additionalProperties`.
struct JSONSchemaPropsOrBool {
  Optional<JSONSchemaProps> schema = {};
  bool allows = true;  ///< has a meaning only without a schema

  friend bool operator==(const JSONSchemaPropsOrBool&, const JSONSchemaPropsOrBool&) = default;
};

/// The schema of all elements of a list, or one schema for each element: `items`. A
/// CustomResourceDefinition allows only the former.
struct JSONSchemaPropsOrArray {
  Optional<JSONSchemaProps> schema = {};
  List<JSONSchemaProps> schemas;  ///< has a meaning only without a schema

  friend bool operator==(const JSONSchemaPropsOrArray&, const JSONSchemaPropsOrArray&) = default;
};

/// A schema, or the names of other properties: a value of `dependencies`.
struct JSONSchemaPropsOrStringArray {
  Optional<JSONSchemaProps> schema = {};
  std::vector<std::string> properties = {};  ///< has a meaning only without a schema

  friend bool operator==(const JSONSchemaPropsOrStringArray&,
                         const JSONSchemaPropsOrStringArray&) = default;
};

// See kopp::detail::HasJsonForm.
void KoppDecode(std::string_view json, JSONSchemaPropsOrBool& value);
[[nodiscard]] std::string KoppEncode(const JSONSchemaPropsOrBool& value);
[[nodiscard]] inline bool KoppIsEmpty(const JSONSchemaPropsOrBool& /*value*/) { return false; }
void KoppDecode(std::string_view json, JSONSchemaPropsOrArray& value);
[[nodiscard]] std::string KoppEncode(const JSONSchemaPropsOrArray& value);
[[nodiscard]] inline bool KoppIsEmpty(const JSONSchemaPropsOrArray& /*value*/) { return false; }
void KoppDecode(std::string_view json, JSONSchemaPropsOrStringArray& value);
[[nodiscard]] std::string KoppEncode(const JSONSchemaPropsOrStringArray& value);
[[nodiscard]] inline bool KoppIsEmpty(const JSONSchemaPropsOrStringArray& /*value*/) {
  return false;
}

}  // namespace kopp::k8s::apiextensions::v1
