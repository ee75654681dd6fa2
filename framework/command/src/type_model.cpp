#include "type_model.hpp"

#include "names.hpp"
#include "schema_markers.hpp"

#include <cstddef>

#include <kopp/k8s/quantity.hpp>

namespace kopp::command {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMembers = 256;  // of KOPP_FIELDS

const json* Find(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

bool IsTrue(const json& schema, const char* key) {
  const json* value = Find(schema, key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::string TextAt(const json& schema, const char* key) {
  const json* value = Find(schema, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

// Removes the descriptions of a schema, so that schemas that differ only in them are equal.
void RemoveDescriptions(json& schema) {
  if (!schema.is_object()) return;
  schema.erase("description");
  for (const char* key : {"items", "additionalProperties"}) {
    if (schema.contains(key)) RemoveDescriptions(schema[key]);
  }
  if (const auto properties = schema.find("properties"); properties != schema.end()) {
    for (json& property : *properties) RemoveDescriptions(property);
  }
}

std::set<std::string> RequiredFields(const json& schema) {
  std::set<std::string> fields;
  if (const json* list = Find(schema, "required")) {
    for (const json& field : *list) fields.insert(field.get<std::string>());
  }
  return fields;
}

// Returns whether an int-or-string has the pattern that controller-gen writes for a quantity.
bool IsQuantity(const json& schema) {
  static const json quantity = json::parse(KoppSchema(static_cast<const k8s::Quantity*>(nullptr)));
  return TextAt(schema, "pattern") == quantity.at("pattern").get_ref<const std::string&>();
}

// Returns whether a type tells by itself that a field is not set.
bool HasEmptyValue(const std::string& type) {
  return type.starts_with(kVectorPrefix) || type.starts_with(kMapPrefix) || type == kRawJson;
}

}  // namespace

// The struct that is being built.
struct TypeModel::Scope {
  StructType& type;
  std::string prefix;  // of the names of the structs of its fields
  std::set<std::string> members;
  std::set<std::string> aliases{};
};

TypeModel::Scope TypeModel::ScopeOf(StructType& type, std::string prefix) const {
  // A member must not have the name of its struct, nor hide the namespace from the aliases.
  return {.type = type, .prefix = std::move(prefix), .members = {type.name, namespace_}};
}

KindTypes TypeModel::Build(const json& schema) {
  KindTypes types{.kind = {.name = kind_, .doc = TextAt(schema, "description")}};
  Scope scope = ScopeOf(types.kind, "");
  AddMembers(schema, scope, true);
  types.fields = std::move(fields_);
  return types;
}

void TypeModel::AddMembers(const json& schema, Scope& scope, bool is_root) {
  const json* properties = Find(schema, "properties");
  if (properties == nullptr) return;
  if (properties->size() > kMaxMembers) {
    throw SchemaError(scope.type.name + " has " + std::to_string(properties->size()) +
                      " fields; KOPP_FIELDS takes at most " + std::to_string(kMaxMembers));
  }
  const std::set<std::string> required = RequiredFields(schema);
  const std::set<std::string> of_every_object = {"apiVersion", "kind", "metadata"};
  // All names first, because an alias must not have the name of a member.
  std::map<std::string, std::string> names;
  for (const auto& [field, unused] : properties->items()) {
    std::string name = is_root && of_every_object.contains(field) ? field : Identifier(field);
    while (!scope.members.insert(name).second) name += '_';
    names[field] = name;
  }
  for (const auto& [field, property] : properties->items()) {
    if (is_root && of_every_object.contains(field)) continue;
    Member member = MakeMember(field, property, required.contains(field), scope);
    member.name = names[field];
    scope.type.members.push_back(std::move(member));
  }
}

Member TypeModel::MakeMember(const std::string& field, const json& schema, bool required,
                             Scope& scope) {
  if (!schema.is_object()) throw SchemaError("the schema of " + field + " is not an object");
  Member member{.json_name = field, .type = TypeOf(field, schema, scope)};
  member.doc = TextAt(schema, "description");
  member.markers = MarkersOf(schema, member.type, required);
  const bool optional = (!required || IsTrue(schema, "nullable")) && !HasEmptyValue(member.type);
  if (optional) member.type = std::string(kOptionalPrefix) + member.type + '>';
  return member;
}

std::string TypeModel::TypeOf(const std::string& field, const json& schema, Scope& scope) {
  const std::string type = TextAt(schema, "type");
  if (IsTrue(schema, "x-kubernetes-preserve-unknown-fields")) return std::string(kRawJson);
  if (IsTrue(schema, "x-kubernetes-int-or-string")) {
    return std::string(IsQuantity(schema) ? kQuantity : kIntOrString);
  }
  if (type == "boolean") return "bool";
  if (type == "integer") {
    return TextAt(schema, "format") == "int32" ? "std::int32_t" : "std::int64_t";
  }
  if (type == "number") return "double";
  if (type == "string") return "std::string";
  if (const json* items = Find(schema, "items"); type == "array" && items != nullptr) {
    const std::string element = TypeOf(field, *items, scope);
    // The elements of std::vector<bool> are no bools.
    return std::string(kVectorPrefix) + (element == "bool" ? std::string(kRawJson) : element) + '>';
  }
  if (type != "object") return std::string(kRawJson);
  if (const json* properties = Find(schema, "properties"); properties && !properties->empty()) {
    return StructFor(field, schema, scope);
  }
  if (const json* values = Find(schema, "additionalProperties"); values && values->is_object()) {
    return std::string(kMapPrefix) + TypeOf(field, *values, scope) + '>';
  }
  return std::string(kRawJson);
}

std::string TypeModel::StructFor(const std::string& field, const json& schema, Scope& scope) {
  std::string name = TypeName(field);
  while (scope.members.contains(name) || !scope.aliases.insert(name).second) name += "Value";
  json without_texts = schema;
  RemoveDescriptions(without_texts);
  const std::string key = without_texts.dump();
  if (const auto known = structs_.find(key); known != structs_.end()) {
    scope.type.aliases.push_back({.name = name, .target = known->second});
    return name;
  }
  StructType type{.name = scope.prefix + TypeName(field), .doc = TextAt(schema, "description")};
  while (!names_.insert(type.name).second) type.name += "Value";
  Scope inner = ScopeOf(type, type.name);
  AddMembers(schema, inner, false);
  structs_[key] = type.name;
  scope.type.aliases.push_back({.name = name, .target = type.name});
  fields_.push_back(std::move(type));
  return name;
}

}  // namespace kopp::command
