#include "schema/structural_schema.hpp"

#include "schema/accessors.hpp"
#include "schema/formats.hpp"
#include "schema/pruning.hpp"
#include "schema_keywords.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

namespace kopp::schema {
namespace {

using nlohmann::json;
using Type = Schema::Type;
using Merge = Schema::Merge;

bool IsTrue(const json& schema, const char* keyword) { return Field(schema, keyword) == true; }

bool HasTypedEntries(const json& schema) {
  return Field(schema, "additionalProperties").is_object();
}

Type TypeOf(const json& schema) {
  if (IsTrue(schema, "x-kubernetes-int-or-string")) return Type::kIntOrString;
  const std::string type = StringField(schema, "type");
  if (type == "object") return HasTypedEntries(schema) ? Type::kMap : Type::kObject;
  if (type == "array") return Type::kList;
  if (type == "string") return Type::kString;
  if (type == "integer") return Type::kInteger;
  if (type == "number") return Type::kNumber;
  return type == "boolean" ? Type::kBoolean : Type::kAny;
}

Merge MergeOf(const json& schema) {
  const std::string list = StringField(schema, "x-kubernetes-list-type");
  if (list == "map") return Merge::kMap;
  if (list == "set") return Merge::kSet;
  const bool is_list = StringField(schema, "type") == "array";
  return is_list || StringField(schema, "x-kubernetes-map-type") == "atomic" ? Merge::kAtomic
                                                                             : Merge::kGranular;
}

/// Returns the default in a schema, with 1 for 1.0.
json DefaultIn(const json& schema) {
  json value = Field(schema, "default");
  NormalizeNumbers(value);
  return value;
}

/// Builds schemas and owns them.
class SchemaBuilder {
 public:
  const Schema* Build(const json& openapi) {
    Schema& schema = schemas_.emplace_back();
    schema.type = TypeOf(openapi);
    schema.merge = MergeOf(openapi);
    schema.nullable = IsTrue(openapi, "nullable");
    schema.embedded_resource = IsTrue(openapi, "x-kubernetes-embedded-resource");
    schema.preserve_unknown_fields = IsTrue(openapi, "x-kubernetes-preserve-unknown-fields") ||
                                     IsTrue(openapi, "additionalProperties");
    if (IsKnownFormat(StringField(openapi, "format")))
      schema.format = StringField(openapi, "format");
    for (const json& key : Field(openapi, "x-kubernetes-list-map-keys")) {
      schema.keys.push_back(key.get<std::string>());
    }
    schema.constraints = BuildConstraints(openapi);
    for (const auto& [name, field] : Field(openapi, "properties").items()) {
      const auto& required = schema.constraints->required;
      schema.fields[name] = {
          .schema = Build(field),
          .required = std::find(required.begin(), required.end(), name) != required.end(),
          .default_value = DefaultIn(field)};
    }
    for (const char* keyword : {"items", "additionalProperties"}) {
      if (Field(openapi, keyword).is_object()) schema.items = Build(Field(openapi, keyword));
    }
    if (schema.type == Type::kList && schema.items == nullptr) schema.items = Build(json::object());
    if (schema.embedded_resource) AddObjectFields(schema);
    return &schema;
  }

  /// Adds the fields that every Kubernetes object has.
  static void AddObjectFields(Schema& schema) {
    const Schemas& built_in = Schemas::BuiltIn();
    schema.fields["apiVersion"] = {.schema = built_in.Find("string")};
    schema.fields["kind"] = {.schema = built_in.Find("string")};
    schema.fields["metadata"] = {.schema = built_in.Find("ObjectMeta")};
  }

  Schema& root() { return schemas_.front(); }

 private:
  std::shared_ptr<const SchemaConstraints> BuildConstraints(const json& openapi) {
    auto constraints = std::make_shared<SchemaConstraints>();
    constraints->keywords = openapi;
    for (const char* field : {"properties", "items", "additionalProperties", "allOf", "anyOf",
                              "oneOf", "not", "description"}) {
      constraints->keywords.erase(field);
    }
    if (const std::string pattern = StringField(openapi, "pattern"); !pattern.empty()) {
      constraints->pattern.emplace(pattern);
    }
    for (const json& name : Field(openapi, "required")) {
      constraints->required.push_back(name.get<std::string>());
    }
    constraints->default_value = DefaultIn(openapi);
    for (const auto& [keyword, schemas] :
         {std::pair("allOf", &constraints->all_of), std::pair("anyOf", &constraints->any_of),
          std::pair("oneOf", &constraints->one_of)}) {
      for (const json& alternative : Field(openapi, keyword))
        schemas->push_back(Build(alternative));
    }
    if (Field(openapi, "not").is_object()) constraints->not_schema = Build(Field(openapi, "not"));
    return constraints;
  }

  std::deque<Schema> schemas_;  // the root is first
};

}  // namespace

std::shared_ptr<const Schema> StructuralSchema(const json& openapi_schema) {
  const auto builder = std::make_shared<SchemaBuilder>();
  builder->Build(openapi_schema);
  SchemaBuilder::AddObjectFields(builder->root());
  return {builder, &builder->root()};
}

}  // namespace kopp::schema
