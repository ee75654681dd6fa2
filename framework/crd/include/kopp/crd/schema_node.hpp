#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include <kopp/markers/literal.hpp>

namespace kopp {

namespace markers {
struct Validation;
}

namespace detail {

/// A schema that is being built: an object of openAPIV3Schema. Hides the JSON library from the
/// templates that describe types. Valid as long as the whole schema and the nodes above it.
class SchemaNode {
 public:
  explicit SchemaNode(nlohmann::json& schema) : schema_(&schema) {}

  /// Sets the type and, if not empty, the format.
  void SetType(std::string_view type, std::string_view format = {}) const;
  void Set(std::string_view keyword, const Literal& value) const;
  void Set(const KeywordMarker& marker) const;
  /// Sets the default. If the schema is not one of scalars, a text is parsed as JSON. Throws
  /// std::logic_error, with the path, if it is not JSON.
  void SetDefault(const Literal& value) const;
  /// Adds a value to a list, such as "enum".
  void Append(std::string_view keyword, const Literal& value) const;
  /// Adds a property to "required", which is sorted.
  void Require(std::string_view name) const;
  void AppendRule(const markers::Validation& validation) const;
  /// Replaces the schema by JSON text. Throws std::logic_error if it is not a JSON object.
  void Replace(std::string_view json_text) const;

  [[nodiscard]] SchemaNode Property(std::string_view name) const;
  /// Returns the schema of the items of a list or of the values of a map, for "items" and
  /// "additionalProperties".
  [[nodiscard]] SchemaNode Child(std::string_view keyword) const;
  /// Declares that the children of this node describe the struct `type`. Throws std::logic_error if
  /// a node above does, because a schema cannot contain itself.
  void Enter(const void* type);

 private:
  SchemaNode(nlohmann::json& schema, const SchemaNode& parent, std::string path)
      : schema_(&schema), parent_(&parent), path_(std::move(path)) {}

  nlohmann::json* schema_;
  const SchemaNode* parent_ = nullptr;
  const void* type_ = nullptr;  // see Enter
  std::string path_{};          // "spec.items"
};

}  // namespace detail
}  // namespace kopp
