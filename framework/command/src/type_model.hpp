#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::command {

/// Thrown if no C++ type can be made from a schema. what() has the path of the field.
class SchemaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A member of a generated struct.
struct Member {
  std::string json_name{};
  std::string name{};
  std::string type{};
  std::string doc{};
  std::vector<std::string> markers{};  ///< C++ expressions: "MaxLength(63)"
};

/// A second name of a struct that was generated before, for an equal schema.
struct Alias {
  std::string name{};
  std::string target{};  ///< with the names of all enclosing structs
};

/// A generated struct.
struct StructType {
  std::string name{};
  std::string qualified_name{};  ///< with the names of all enclosing structs
  std::string doc{};
  std::vector<std::variant<StructType, Alias>> nested{};
  std::vector<Member> members{};
};

/// Makes C++ structs from the schema of one version of a CustomResourceDefinition.
///
/// | schema | C++ type |
/// |---|---|
/// | boolean, integer, number, string | bool, std::int32_t or std::int64_t, double, std::string |
/// | object with properties | a nested struct; equal schemas share one struct |
/// | object with additionalProperties | std::map<std::string, …> |
/// | array | std::vector<…> |
/// | int-or-string, preserve-unknown-fields, no type | kopp::RawJson |
///
/// A field that is not required is a std::optional, unless it is a list, a map or kopp::RawJson.
class TypeModel {
 public:
  /// `root_name` is the name of the outermost struct, the kind.
  explicit TypeModel(std::string root_name) : root_name_(std::move(root_name)) {}

  /// Returns the struct of the whole object. Its apiVersion, kind and metadata are left out. Throws
  /// SchemaError.
  [[nodiscard]] StructType Build(const nlohmann::json& schema);

 private:
  struct Scope;
  void AddMembers(const nlohmann::json& schema, Scope& scope, bool is_root);
  Member MakeMember(const std::string& field, const nlohmann::json& schema, bool required,
                    Scope& scope);
  /// Returns the C++ type of a value, and adds a struct to `scope` if it needs one. `field` is the
  /// JSON field that has the value, for the name of that struct.
  std::string TypeOf(const std::string& field, const nlohmann::json& schema, Scope& scope);
  std::string StructFor(const std::string& field, const nlohmann::json& schema, Scope& scope);

  std::string root_name_;
  std::map<std::string, std::string> structs_{};  // qualified names, by schemas without texts
};

}  // namespace kopp::command
