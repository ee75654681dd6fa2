#pragma once

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
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

/// A name that a struct gives to the struct of one of its fields.
struct Alias {
  std::string name{};
  std::string target{};  ///< StructType::name
};

/// A generated struct.
struct StructType {
  std::string name{};
  std::string doc{};
  std::vector<Alias> aliases{};
  std::vector<Member> members{};
};

/// The structs of a kind.
struct KindTypes {
  std::vector<StructType> fields{};  ///< the structs of its fields, each after those that it uses
  StructType kind{};
};

/// Makes C++ structs from the schema of one version of a CustomResourceDefinition.
///
/// | schema | C++ type |
/// |---|---|
/// | boolean, integer, number, string | bool, std::int32_t or std::int64_t, double, std::string |
/// | object with properties | a struct of its own; equal schemas share one struct |
/// | object with additionalProperties | std::map<std::string, …> |
/// | array | std::vector<…> |
/// | int-or-string | kopp::k8s::IntOrString; with the pattern of a quantity kopp::k8s::Quantity |
/// | preserve-unknown-fields, no type | kopp::RawJson |
///
/// The struct of a field is not nested in that of its object, because clang does not compile a
/// std::optional of a nested struct with default values. It has the names of all fields above it:
/// "SpecIssuerRef". The struct of the object has an alias for it: Certificate::Spec::IssuerRef.
///
/// A field that is not required is a std::optional, unless it is a list, a map or kopp::RawJson. So
/// are nullable elements of lists and maps. A field that is required and nullable, without a
/// default, is a kopp::OrNull. If an object has more fields than KOPP_FIELDS takes,
/// the last member is a map of kopp::RawJson for the others.
class TypeModel {
 public:
  /// `kind` is the name of the struct of the object. No member has the name `name_space`, that of
  /// the namespace of the other structs.
  TypeModel(std::string kind, std::string name_space)
      : kind_(std::move(kind)), namespace_(std::move(name_space)) {}

  /// Returns the structs for the schema of an object, without its apiVersion, kind and metadata.
  /// Call it once. Throws SchemaError.
  [[nodiscard]] KindTypes Build(const nlohmann::json& schema);

 private:
  struct Scope;
  [[nodiscard]] Scope ScopeOf(StructType& type, std::string prefix) const;
  void AddMembers(const nlohmann::json& schema, Scope& scope, bool is_root);
  Member MakeMember(const std::string& field, const nlohmann::json& schema, bool required,
                    Scope& scope);
  /// Returns the C++ type of a value, and adds an alias to `scope` if it is a struct. `field` is
  /// the JSON field that has the value, for the name of that struct.
  std::string TypeOf(const std::string& field, const nlohmann::json& schema, Scope& scope);
  /// Returns the type of the elements of a list or map.
  std::string ElementOf(const std::string& field, const nlohmann::json& schema, Scope& scope);
  std::string StructFor(const std::string& field, const nlohmann::json& schema, Scope& scope);

  std::string kind_;
  std::string namespace_;
  std::vector<StructType> fields_{};
  std::set<std::string> names_{};                 // of the structs in fields_
  std::map<std::string, std::string> structs_{};  // their names, by schemas without texts
};

}  // namespace kopp::command
