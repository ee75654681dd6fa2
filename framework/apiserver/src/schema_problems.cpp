#include "schema_problems.hpp"

#include "custom_values.hpp"
#include "schema_rules.hpp"
#include "structural_schema.hpp"
#include "value_problems.hpp"

#include <algorithm>
#include <iterator>
#include <regex>
#include <set>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kListType = "x-kubernetes-list-type";
constexpr const char* kListKeys = "x-kubernetes-list-map-keys";
constexpr const char* kMapType = "x-kubernetes-map-type";
constexpr const char* kPreserve = "x-kubernetes-preserve-unknown-fields";
constexpr const char* kEmbedded = "x-kubernetes-embedded-resource";

bool Has(const json& schema, const char* word) { return !Said(schema, word).is_null(); }

bool IsTrue(const json& schema, const char* word) { return Said(schema, word) == true; }

bool IsOneOf(const json& value, const std::vector<std::string>& values) {
  return value.is_string() &&
         std::find(values.begin(), values.end(), value.get<std::string>()) != values.end();
}

class Finder {
 public:
  Causes causes;

  void CheckRoot(const json& schema, const std::string& at) {
    CheckIdentity(schema, at);
    if (!Has(schema, "type")) {
      causes.push_back(Required(at + ".type", "must not be empty at the root"));
    } else if (Said(schema, "type") != "object") {
      causes.push_back(
          InvalidValue(at + ".type", Said(schema, "type"), "must be object at the root"));
    }
    if (IsTrue(schema, "nullable")) {
      causes.push_back(ForbiddenField(at + ".nullable", "nullable cannot be true at the root"));
    }
    Check(schema, at);
  }

  void CheckDefaults(const json& schema, const std::string& at) {
    ForEachPart(schema, at, [&](const json& part, const std::string& where) {
      if (Has(part, "default")) CheckDefault(part, where + ".default");
      CheckDefaults(part, where);
    });
  }

 private:
  template <typename Visit>
  static void ForEachPart(const json& schema, const std::string& at, const Visit& visit) {
    for (const auto& [name, part] : Said(schema, "properties").items()) {
      visit(part, at + ".properties[" + name + ']');
    }
    for (const char* word : {"items", "additionalProperties"}) {
      if (Said(schema, word).is_object()) visit(Said(schema, word), at + '.' + word);
    }
  }

  /// What is the same for all kinds.
  void CheckIdentity(const json& schema, const std::string& at) {
    const json& properties = Said(schema, "properties");
    for (const char* name : {"apiVersion", "kind"}) {
      CheckTypeIs("string", Said(properties, name), at + ".properties[" + name + "].type");
    }
    const json& metadata = Said(properties, "metadata");
    CheckTypeIs("object", metadata, at + ".properties[metadata].type");
    for (const auto& [name, part] : Said(metadata, "properties").items()) {
      if (name == "name" || name == "generateName") continue;
      causes.push_back(ForbiddenField(at + ".properties[metadata]",
                                      "must not specify anything other than name and "
                                      "generateName, but metadata is implicitly specified"));
      return;
    }
  }

  void CheckTypeIs(const std::string& type, const json& schema, const std::string& field) {
    if (!Has(schema, "type") || Said(schema, "type") == type) return;
    causes.push_back(InvalidValue(field, Said(schema, "type"), "must be " + type));
  }

  void Check(const json& schema, const std::string& at) {
    CheckType(schema, at);
    CheckWords(schema, at);
    CheckExtensions(schema, at);
    CheckList(schema, at);
    for (const char* word : {"allOf", "anyOf", "oneOf"}) {
      const json& schemas = Said(schema, word);
      for (std::size_t i = 0; i < schemas.size(); ++i) {
        CheckRule(schemas[i], at + '.' + word + '[' + std::to_string(i) + ']', schema);
      }
    }
    if (Has(schema, "not")) CheckRule(Said(schema, "not"), at + ".not", schema);
    ForEachPart(schema, at, [&](const json& part, const std::string& where) {
      const bool is_item = where.ends_with(".items");
      if (!Has(part, "type") && !IsTrue(part, "x-kubernetes-int-or-string") &&
          !IsTrue(part, kPreserve)) {
        causes.push_back(
            Required(where + ".type", is_item ? "must not be empty for specified array items"
                                              : "must not be empty for specified object fields"));
      }
      Check(part, where);
    });
  }

  void CheckType(const json& schema, const std::string& at) {
    const json& type = Said(schema, "type");
    if (type == "array" && !Has(schema, "items")) {
      causes.push_back(Required(at + ".items", "must be specified"));
    }
    const std::vector<std::string> types{"array",  "boolean", "integer",
                                         "number", "object",  "string"};
    if (type.is_null() || type == "" || IsOneOf(type, types)) return;
    causes.push_back(NotSupported(at + ".type", type, types));
    if (type == "null") {
      causes.push_back(ForbiddenField(
          at + ".type", "type cannot be set to null, use nullable as an alternative"));
    }
  }

  void CheckWords(const json& schema, const std::string& at) {
    for (const char* word : {"$ref", "definitions", "dependencies", "id", "patternProperties"}) {
      if (Has(schema, word) && !Said(schema, word).empty()) {
        causes.push_back(ForbiddenField(at + '.' + word, std::string(word) + " is not supported"));
      }
    }
    if (IsTrue(schema, "uniqueItems")) {
      causes.push_back(ForbiddenField(at + ".uniqueItems",
                                      "uniqueItems cannot be set to true since the runtime "
                                      "complexity becomes quadratic"));
    }
    if (Said(schema, "items").is_array()) {
      causes.push_back(
          ForbiddenField(at + ".items", "items must be a schema object and not an array"));
    }
    if (Has(schema, "additionalProperties") && !Said(schema, "properties").empty()) {
      causes.push_back(ForbiddenField(at + ".additionalProperties",
                                      "additionalProperties and properties are mutual exclusive"));
    }
    if (!Has(schema, "pattern")) return;
    try {
      const std::regex tried(Said(schema, "pattern").get<std::string>());
    } catch (const std::regex_error& error) {
      causes.push_back(InvalidValue(
          at + ".pattern", Said(schema, "pattern"),
          std::string("must be a valid regular expression, but isn't: ") + error.what()));
    }
  }

  void CheckExtensions(const json& schema, const std::string& at) {
    const json& type = Said(schema, "type");
    if (Said(schema, kPreserve) == false) {
      causes.push_back(InvalidValue(at + '.' + kPreserve, false, "must be true or undefined"));
    }
    if (IsTrue(schema, kEmbedded)) {
      if (Said(schema, "properties").empty() && !IsTrue(schema, kPreserve)) {
        causes.push_back(Required(
            at + ".properties",
            std::string("must not be empty if ") + kEmbedded + " is true without " + kPreserve));
      }
      RequireType("object", type, at, std::string("must be object if ") + kEmbedded + " is true");
    }
    if (Has(schema, kMapType)) {
      const std::vector<std::string> kinds{"atomic", "granular"};
      if (!IsOneOf(Said(schema, kMapType), kinds)) {
        causes.push_back(NotSupported(at + '.' + kMapType, Said(schema, kMapType), kinds));
      }
      RequireType("object", type, at,
                  std::string("must be object if ") + kMapType + " is specified");
    }
  }

  void RequireType(const char* wanted, const json& type, const std::string& at,
                   const std::string& why) {
    if (type != wanted) causes.push_back(InvalidValue(at + ".type", type, why));
  }

  void CheckList(const json& schema, const std::string& at) {
    const json& kind = Said(schema, kListType);
    const json& keys = Said(schema, kListKeys);
    if (!keys.empty() && kind != "map") {
      causes.push_back(Required(at + '.' + kListType,
                                std::string("must be map if ") + kListKeys + " is non-empty"));
    }
    if (kind.is_null()) return;
    RequireType("array", Said(schema, "type"), at,
                std::string("must be array if ") + kListType + " is specified");
    const std::vector<std::string> kinds{"atomic", "set", "map"};
    if (!IsOneOf(kind, kinds)) causes.push_back(NotSupported(at + '.' + kListType, kind, kinds));
    const json& items = Said(schema, "items");
    if (kind == "set" && Said(items, "type") == "object" && Said(items, kMapType) != "atomic") {
      causes.push_back(
          InvalidValue(at + ".items." + kMapType, Said(items, kMapType),
                       std::string("must be atomic as item of a list with ") + kListType + "=set"));
    }
    if (kind == "set" && Said(items, "type") == "array" && Said(items, kListType) != "atomic" &&
        Has(items, kListType)) {
      causes.push_back(
          InvalidValue(at + ".items." + kListType, Said(items, kListType),
                       std::string("must be atomic as item of a list with ") + kListType + "=set"));
    }
    if (kind == "map") CheckKeys(items, keys, at);
  }

  void CheckKeys(const json& items, const json& keys, const std::string& at) {
    const std::string if_map = std::string(" if parent array's ") + kListType + " is map";
    if (keys.empty()) {
      causes.push_back(Required(at + '.' + kListKeys,
                                std::string("must not be empty if ") + kListType + " is map"));
      return;
    }
    if (Said(items, "type") != "object") {
      causes.push_back(
          InvalidValue(at + ".items.type", Said(items, "type"), "must be object" + if_map));
      return;
    }
    const json& properties = Said(items, "properties");
    bool all_known = true;
    for (const json& key : keys) {
      const json& property = Said(properties, key.get<std::string>());
      all_known &= !property.is_null();
      const json& type = Said(property, "type");
      if (type == "object" || type == "array") {
        causes.push_back(InvalidValue(at + ".items.properties[" + key.get<std::string>() + "].type",
                                      type, "must be a scalar type" + if_map));
      }
    }
    if (std::set<json>(keys.begin(), keys.end()).size() != keys.size()) {
      causes.push_back(
          InvalidValue(at + '.' + kListKeys, keys, "must not contain duplicate entries"));
    }
    if (!all_known) {
      causes.push_back(
          InvalidValue(at + '.' + kListKeys, keys, "entries must all be names of item properties"));
    }
    const json& required = Said(items, "required");
    for (const json& key : keys) {
      const json& property = Said(properties, key.get<std::string>());
      if (property.is_null() || Has(property, "default") ||
          std::find(required.begin(), required.end(), key) != required.end()) {
        continue;
      }
      causes.push_back(Required(at + ".items.properties[" + key.get<std::string>() + "].default",
                                std::string("this property is in ") + kListKeys +
                                    ", so it must have a default or be a required property"));
    }
  }

  /// A schema in a rule of another, which says what there is.
  void CheckRule(const json& rule, const std::string& at, const json& parent) {
    struct Word {
      const char* name;
      const char* why;
    };
    constexpr Word kWords[] = {
        {"additionalProperties", "must be undefined to be structural"},
        {"default", "must be undefined to be structural"},
        {"description", "must be empty to be structural"},
        {"nullable", "must be false to be structural"},
        {"title", "must be empty to be structural"},
        {"type", "must be empty to be structural"},
        {kEmbedded, "must be false to be structural"},
        {kPreserve, "must be false to be structural"},
    };
    const bool is_int_or_string = IsTrue(parent, "x-kubernetes-int-or-string");
    for (const auto& [name, why] : kWords) {
      const json& said = Said(rule, name);
      if (said.is_null() || said == false || said == "") continue;
      if (is_int_or_string && name == std::string_view("type")) continue;
      causes.push_back(ForbiddenField(at + '.' + name, why));
    }
    ForEachPart(rule, at, [&](const json& part, const std::string& where) {
      CheckRule(part, where, json());
    });
    for (const char* word : {"allOf", "anyOf", "oneOf"}) {
      const json& schemas = Said(rule, word);
      for (std::size_t i = 0; i < schemas.size(); ++i) {
        CheckRule(schemas[i], at + '.' + word + '[' + std::to_string(i) + ']', parent);
      }
    }
    if (Has(rule, "not")) CheckRule(Said(rule, "not"), at + ".not", parent);
  }

  void CheckDefault(const json& schema, const std::string& at) {
    const auto structural = StructuralSchema(schema);
    json value = Said(schema, "default");
    if (!Prune(value, *structural).empty()) {
      causes.push_back(InvalidValue(at, Said(schema, "default"), "must not have unknown fields"));
      return;
    }
    SetDefaults(value, *structural);
    Causes found = ValueProblems(value, *structural, at);
    std::move(found.begin(), found.end(), std::back_inserter(causes));
  }
};

}  // namespace

Causes SchemaProblems(const json& schema, const std::string& field) {
  Finder finder;
  finder.CheckRoot(schema, field);
  // Only what is a schema can say whether a default keeps it.
  if (finder.causes.empty()) finder.CheckDefaults(schema, field);
  return std::move(finder.causes);
}

}  // namespace kopp::apiserver
