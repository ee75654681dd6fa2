#include "schema_problems.hpp"

#include "custom_values.hpp"
#include "pattern.hpp"
#include "schema_words.hpp"
#include "structural_schema.hpp"
#include "value_problems.hpp"

#include <iterator>
#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

class Finder {
 public:
  Causes causes;

  void CheckRoot(const json& schema, const std::string& at) {
    CheckIdentity(schema, at);
    if (!HasWord(schema, "type")) {
      causes.push_back(Required(at + ".type", "must not be empty at the root"));
    } else if (Said(schema, "type") != "object") {
      causes.push_back(
          InvalidValue(at + ".type", Said(schema, "type"), "must be object at the root"));
    }
    if (SaysTrue(schema, "nullable")) {
      causes.push_back(ForbiddenField(at + ".nullable", "nullable cannot be true at the root"));
    }
    Check(schema, at);
  }

  void CheckDefaults(const json& schema, const std::string& at) {
    ForEachPart(schema, at, [&](const json& part, const std::string& where) {
      if (HasWord(part, "default")) CheckDefault(part, where + ".default");
      CheckDefaults(part, where);
    });
  }

 private:
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
    if (!HasWord(schema, "type") || Said(schema, "type") == type) return;
    causes.push_back(InvalidValue(field, Said(schema, "type"), "must be " + type));
  }

  void Check(const json& schema, const std::string& at) {
    CheckType(schema, at);
    CheckWords(schema, at);
    CheckExtensions(schema, at);
    CheckListWords(schema, at, causes);
    ForEachRule(schema, at, [&](const json& rule, const std::string& where) {
      CheckRuleWords(rule, where, schema, causes);
    });
    ForEachPart(schema, at, [&](const json& part, const std::string& where) {
      const bool is_item = where.ends_with(".items");
      if (!HasWord(part, "type") && !SaysTrue(part, kIntOrString) && !SaysTrue(part, kPreserve)) {
        causes.push_back(
            Required(where + ".type", is_item ? "must not be empty for specified array items"
                                              : "must not be empty for specified object fields"));
      }
      Check(part, where);
    });
  }

  void CheckType(const json& schema, const std::string& at) {
    const json& type = Said(schema, "type");
    if (type == "array" && !HasWord(schema, "items")) {
      causes.push_back(Required(at + ".items", "must be specified"));
    }
    if (type.is_null() || type == "") return;
    RequireOneOf("type", {"array", "boolean", "integer", "number", "object", "string"}, schema, at,
                 causes);
    if (type == "null") {
      causes.push_back(ForbiddenField(
          at + ".type", "type cannot be set to null, use nullable as an alternative"));
    }
  }

  void CheckWords(const json& schema, const std::string& at) {
    for (const char* word : {"$ref", "definitions", "dependencies", "id", "patternProperties"}) {
      if (HasWord(schema, word) && !Said(schema, word).empty()) {
        causes.push_back(ForbiddenField(at + '.' + word, std::string(word) + " is not supported"));
      }
    }
    if (SaysTrue(schema, "uniqueItems")) {
      causes.push_back(ForbiddenField(at + ".uniqueItems",
                                      "uniqueItems cannot be set to true since the runtime "
                                      "complexity becomes quadratic"));
    }
    if (Said(schema, "items").is_array()) {
      causes.push_back(
          ForbiddenField(at + ".items", "items must be a schema object and not an array"));
    }
    if (HasWord(schema, "additionalProperties") && !Said(schema, "properties").empty()) {
      causes.push_back(ForbiddenField(at + ".additionalProperties",
                                      "additionalProperties and properties are mutual exclusive"));
    }
    if (!HasWord(schema, "pattern")) return;
    try {
      const Pattern tried(SaidText(schema, "pattern"));
    } catch (const std::invalid_argument& error) {
      causes.push_back(InvalidValue(
          at + ".pattern", Said(schema, "pattern"),
          std::string("must be a valid regular expression, but isn't: ") + error.what()));
    }
  }

  void CheckExtensions(const json& schema, const std::string& at) {
    if (Said(schema, kPreserve) == false) {
      causes.push_back(InvalidValue(at + '.' + kPreserve, false, "must be true or undefined"));
    }
    if (SaysTrue(schema, kEmbedded)) {
      if (Said(schema, "properties").empty() && !SaysTrue(schema, kPreserve)) {
        causes.push_back(Required(
            at + ".properties",
            std::string("must not be empty if ") + kEmbedded + " is true without " + kPreserve));
      }
      RequireType("object", schema, at, std::string("must be object if ") + kEmbedded + " is true",
                  causes);
    }
    if (HasWord(schema, kMapType)) {
      RequireOneOf(kMapType, {"atomic", "granular"}, schema, at, causes);
      RequireType("object", schema, at,
                  std::string("must be object if ") + kMapType + " is specified", causes);
    }
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
