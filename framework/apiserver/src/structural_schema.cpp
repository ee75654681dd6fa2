#include "structural_schema.hpp"

#include "formats.hpp"
#include "schema_rules.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Type = Schema::Type;
using Merge = Schema::Merge;

bool IsTrue(const json& schema, const char* word) { return Said(schema, word) == true; }

bool HasItemsByName(const json& schema) { return Said(schema, "additionalProperties").is_object(); }

Type TypeOf(const json& schema) {
  if (IsTrue(schema, "x-kubernetes-int-or-string")) return Type::kIntOrString;
  const std::string type = SaidText(schema, "type");
  if (type == "object") return HasItemsByName(schema) ? Type::kMap : Type::kObject;
  if (type == "array") return Type::kList;
  if (type == "string") return Type::kString;
  if (type == "integer") return Type::kInteger;
  if (type == "number") return Type::kNumber;
  return type == "boolean" ? Type::kBoolean : Type::kAny;
}

Merge MergeOf(const json& schema) {
  const std::string list = SaidText(schema, "x-kubernetes-list-type");
  if (list == "map") return Merge::kMap;
  if (list == "set") return Merge::kSet;
  const bool is_list = SaidText(schema, "type") == "array";
  return is_list || SaidText(schema, "x-kubernetes-map-type") == "atomic" ? Merge::kAtomic
                                                                          : Merge::kGranular;
}

class Maker {
 public:
  const Schema* Make(const json& said) {
    Schema& schema = made_.emplace_back();
    schema.type = TypeOf(said);
    schema.merge = MergeOf(said);
    schema.nullable = IsTrue(said, "nullable");
    schema.embedded = IsTrue(said, "x-kubernetes-embedded-resource");
    schema.open = IsTrue(said, "x-kubernetes-preserve-unknown-fields") ||
                  IsTrue(said, "additionalProperties");
    if (IsFormat(SaidText(said, "format"))) schema.format = SaidText(said, "format");
    for (const json& key : Said(said, "x-kubernetes-list-map-keys")) {
      schema.keys.push_back(key.get<std::string>());
    }
    schema.rules = RulesOf(said);
    for (const auto& [name, field] : Said(said, "properties").items()) {
      const auto& required = schema.rules->required;
      schema.fields[name] = {
          .schema = Make(field),
          .required = std::find(required.begin(), required.end(), name) != required.end(),
          .fallback = Said(field, "default")};
    }
    for (const char* word : {"items", "additionalProperties"}) {
      if (Said(said, word).is_object()) schema.items = Make(Said(said, word));
    }
    if (schema.type == Type::kList && schema.items == nullptr) schema.items = Make(json::object());
    if (schema.embedded) AddIdentity(schema);
    return &schema;
  }

  static void AddIdentity(Schema& schema) {
    const Schemas& built_in = Schemas::BuiltIn();
    schema.fields["apiVersion"] = {.schema = built_in.Find("string")};
    schema.fields["kind"] = {.schema = built_in.Find("string")};
    schema.fields["metadata"] = {.schema = built_in.Find("ObjectMeta")};
  }

  Schema& root() { return made_.front(); }

 private:
  std::shared_ptr<const Rules> RulesOf(const json& said) {
    auto rules = std::make_shared<Rules>();
    rules->said = said;
    for (const char* part : {"properties", "items", "additionalProperties", "allOf", "anyOf",
                             "oneOf", "not", "description"}) {
      rules->said.erase(part);
    }
    if (const std::string pattern = SaidText(said, "pattern"); !pattern.empty()) {
      rules->pattern.emplace(pattern);
    }
    for (const json& name : Said(said, "required")) {
      rules->required.push_back(name.get<std::string>());
    }
    rules->fallback = Said(said, "default");
    for (const auto& [word, into] :
         {std::pair("allOf", &rules->all_of), std::pair("anyOf", &rules->any_of),
          std::pair("oneOf", &rules->one_of)}) {
      for (const json& each : Said(said, word)) into->push_back(Make(each));
    }
    if (Said(said, "not").is_object()) rules->none = Make(Said(said, "not"));
    return rules;
  }

  std::deque<Schema> made_;  // the root first
};

}  // namespace

std::shared_ptr<const Schema> StructuralSchema(const json& said) {
  const auto maker = std::make_shared<Maker>();
  maker->Make(said);
  Maker::AddIdentity(maker->root());
  return {maker, &maker->root()};
}

}  // namespace kopp::apiserver
