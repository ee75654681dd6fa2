#pragma once

#include "said.hpp"
#include "status.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// How CRDs' schemas are looked at, by those who judge them.

namespace kopp::apiserver {

inline constexpr const char* kListType = "x-kubernetes-list-type";
inline constexpr const char* kListKeys = "x-kubernetes-list-map-keys";
inline constexpr const char* kMapType = "x-kubernetes-map-type";
inline constexpr const char* kPreserve = "x-kubernetes-preserve-unknown-fields";
inline constexpr const char* kEmbedded = "x-kubernetes-embedded-resource";
inline constexpr const char* kIntOrString = "x-kubernetes-int-or-string";

[[nodiscard]] inline bool HasWord(const nlohmann::json& schema, const char* word) {
  return !Said(schema, word).is_null();
}
[[nodiscard]] inline bool SaysTrue(const nlohmann::json& schema, const char* word) {
  return Said(schema, word) == true;
}

/// Calls `visit` with the schema of each field or item, and where that stands.
template <typename Visit>
void ForEachPart(const nlohmann::json& schema, const std::string& at, const Visit& visit) {
  for (const auto& [name, part] : Said(schema, "properties").items()) {
    visit(part, at + ".properties[" + name + ']');
  }
  for (const char* word : {"items", "additionalProperties"}) {
    if (Said(schema, word).is_object()) visit(Said(schema, word), at + '.' + word);
  }
}

/// Calls `visit` with each schema that adds a rule, and where that stands.
template <typename Visit>
void ForEachRule(const nlohmann::json& schema, const std::string& at, const Visit& visit) {
  for (const char* word : {"allOf", "anyOf", "oneOf"}) {
    const nlohmann::json& rules = Said(schema, word);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      visit(rules[i], at + '.' + word + '[' + std::to_string(i) + ']');
    }
  }
  if (HasWord(schema, "not")) visit(Said(schema, "not"), at + ".not");
}

void RequireType(const char* wanted, const nlohmann::json& schema, const std::string& at,
                 const std::string& why, Causes& causes);
/// A word that is one of `values`.
void RequireOneOf(const char* word, const std::vector<std::string>& values,
                  const nlohmann::json& schema, const std::string& at, Causes& causes);

/// What is wrong with what a schema says of a list's items, and of the keys that tell them apart.
void CheckListWords(const nlohmann::json& schema, const std::string& at, Causes& causes);

/// What is wrong with a schema that adds a rule to `parent`: that one alone says what there is.
void CheckRuleWords(const nlohmann::json& rule, const std::string& at, const nlohmann::json& parent,
                    Causes& causes);

}  // namespace kopp::apiserver
