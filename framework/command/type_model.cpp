#include "type_model.hpp"

#include "names.hpp"
#include "schema_markers.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <kopp/informer/fields.hpp>
#include <kopp/k8s/quantity.hpp>

namespace kopp::command {
namespace {

using nlohmann::json;

// Limits of compilers: on the steps of a constant expression and the length of a literal, and on
// the time for templates in templates.
constexpr std::size_t kMaxMarkerText = 65536;
constexpr std::ptrdiff_t kMaxTemplates = 16;
constexpr const char* kOthersType = "std::map<std::string, kopp::RawJson>";

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

// `keyword` is that of the list of `value`.
const std::string& TextOf(const json& value, const std::string& keyword) {
  if (value.is_string()) return value.get_ref<const std::string&>();
  throw SchemaError('"' + keyword + "\" has the value " + value.dump() +
                    ", which is not a text; in YAML, write names such as n, y, on and 1 in quotes");
}

std::set<std::string> RequiredFields(const json& schema) {
  std::set<std::string> fields;
  if (const json* list = Find(schema, "required")) {
    for (const json& field : *list) fields.insert(TextOf(field, "required"));
  }
  return fields;
}

// Returns whether an int-or-string has the pattern that controller-gen writes for a quantity.
bool IsQuantity(const json& schema) {
  static const json quantity = json::parse(KoppSchema(static_cast<const k8s::Quantity*>(nullptr)));
  return TextAt(schema, "pattern") == quantity.at("pattern").get_ref<const std::string&>();
}

std::string OptionalOf(const std::string& type) {
  return std::string(kOptionalPrefix) + type + '>';
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

namespace {

bool IsOfEveryObject(const std::string& field) {
  return field == "apiVersion" || field == "kind" || field == "metadata";
}

// The fields of an object that become members, and whether there are others.
struct MemberFields {
  std::set<std::string> fields{};
  bool others = false;
};

MemberFields FieldsWithMembers(const json& properties, bool is_root) {
  MemberFields members;
  for (const auto& [field, unused] : properties.items()) {
    if (is_root && IsOfEveryObject(field)) continue;
    if (field.find('\0') == std::string::npos) {
      members.fields.insert(field);
    } else {
      members.others = true;  // KOPP_FIELD takes no such name
    }
  }
  const std::size_t limit = detail::kMaxFields - (is_root ? 1 : 0);  // metadata is a member too
  if (members.fields.size() + (members.others ? 1 : 0) <= limit) return members;
  members.others = true;
  while (members.fields.size() >= limit) members.fields.erase(std::prev(members.fields.end()));
  return members;
}

// Removes the markers of the fields with the most text until all together have at most
// kMaxMarkerText.
void LimitMarkers(std::vector<Member>& members) {
  std::multimap<std::size_t, Member*> by_size;
  std::size_t total = 0;
  for (Member& member : members) {
    std::size_t size = 0;
    for (const std::string& marker : member.markers) size += marker.size();
    by_size.emplace(size, &member);
    total += size;
  }
  for (auto largest = by_size.rbegin(); total > kMaxMarkerText; ++largest) {
    total -= largest->first;
    largest->second->markers.clear();
  }
}

Member OthersMember(std::string name) {
  return {.json_name = std::string(kOtherFields),
          .name = std::move(name),
          .type = kOthersType,
          .doc = "The fields without a member: KOPP_FIELDS takes at most " +
                 std::to_string(detail::kMaxFields) + "."};
}

}  // namespace

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
  const std::set<std::string> required = RequiredFields(schema);
  const MemberFields members = FieldsWithMembers(*properties, is_root);
  if (is_root) scope.members.insert({"apiVersion", "kind", "metadata"});
  // All names first, because an alias must not have the name of a member.
  std::map<std::string, std::string> names;
  for (const std::string& field : members.fields) {
    names[field] = AddUnique(scope.members, Identifier(field));
  }
  const std::string others = members.others ? AddUnique(scope.members, "otherFields") : "";
  for (const std::string& field : members.fields) {
    Member member = MakeMember(field, properties->at(field), required.contains(field), scope);
    member.name = names[field];
    scope.type.members.push_back(std::move(member));
  }
  if (members.others) scope.type.members.push_back(OthersMember(others));
  LimitMarkers(scope.type.members);
}

Member TypeModel::MakeMember(const std::string& field, const json& schema, bool required,
                             Scope& scope) {
  if (!schema.is_object()) throw SchemaError("the schema of " + field + " is not an object");
  Member member{.json_name = field, .type = TypeOf(field, schema, scope)};
  member.doc = TextAt(schema, "description");
  member.markers = MarkersOf(schema, member.type, required);
  const bool nullable = IsTrue(schema, "nullable");
  // The API server sets a missing field to its default.
  if (required && nullable && !schema.contains("default")) {
    member.type = std::string(kOrNullPrefix) + member.type + '>';
  } else if ((!required || nullable) && !HasEmptyValue(member.type)) {
    member.type = OptionalOf(member.type);
  }
  return member;
}

std::string TypeModel::ElementOf(const std::string& field, const json& schema, Scope& scope) {
  const std::string type = TypeOf(field, schema, scope);
  if (std::count(type.begin(), type.end(), '<') >= kMaxTemplates) return std::string(kRawJson);
  return IsTrue(schema, "nullable") && type != kRawJson ? OptionalOf(type) : type;
}

std::string TypeModel::TypeOf(const std::string& field, const json& schema, Scope& scope) {
  const std::string type = TextAt(schema, "type");
  if (IsTrue(schema, "x-kubernetes-preserve-unknown-fields")) return std::string(kRawJson);
  if (IsTrue(schema, "x-kubernetes-int-or-string")) {
    return std::string(IsQuantity(schema) ? kQuantity : kIntOrString);
  }
  if (type == "boolean") return "bool";
  if (type == "integer") {
    const std::string format = TextAt(schema, "format");
    if (format == "uint64") return "std::uint64_t";
    return format == "int32" ? "std::int32_t" : "std::int64_t";
  }
  if (type == "number") return "double";
  if (type == "string") return "std::string";
  if (const json* items = Find(schema, "items"); type == "array" && items != nullptr) {
    const std::string element = ElementOf(field, *items, scope);
    // The elements of std::vector<bool> are no bools.
    return std::string(kVectorPrefix) + (element == "bool" ? std::string(kRawJson) : element) + '>';
  }
  if (type != "object") return std::string(kRawJson);
  if (const json* properties = Find(schema, "properties"); properties && !properties->empty()) {
    return StructFor(field, schema, scope);
  }
  if (const json* values = Find(schema, "additionalProperties"); values && values->is_object()) {
    return std::string(kMapPrefix) + ElementOf(field, *values, scope) + '>';
  }
  return std::string(kRawJson);
}

std::string TypeModel::StructFor(const std::string& field, const json& schema, Scope& scope) {
  std::string name = TypeName(field);
  while (scope.members.contains(name) || !scope.aliases.insert(name).second) name += "Value";
  json without_texts = schema;
  RemoveDescriptions(without_texts);
  const std::string key = without_texts.dump(-1, ' ', false, json::error_handler_t::replace);
  if (const auto known = structs_.find(key); known != structs_.end()) {
    scope.type.aliases.push_back({.name = name, .target = known->second});
    return name;
  }
  StructType type{.name = StructName(scope.prefix + PascalCase(field)),
                  .doc = TextAt(schema, "description")};
  while (!names_.insert(type.name).second) type.name += "Value";
  Scope inner = ScopeOf(type, type.name);
  AddMembers(schema, inner, false);
  structs_[key] = type.name;
  scope.type.aliases.push_back({.name = name, .target = type.name});
  fields_.push_back(std::move(type));
  return name;
}

}  // namespace kopp::command
