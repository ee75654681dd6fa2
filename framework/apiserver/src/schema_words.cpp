#include "schema_words.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace kopp::apiserver {

using nlohmann::json;

void RequireType(const char* wanted, const json& schema, const std::string& at,
                 const std::string& why, Causes& causes) {
  const json& type = Said(schema, "type");
  if (type != wanted) causes.push_back(InvalidValue(at + ".type", type, why));
}

void RequireOneOf(const char* word, const std::vector<std::string>& values, const json& schema,
                  const std::string& at, Causes& causes) {
  const json& said = Said(schema, word);
  if (std::find(values.begin(), values.end(), SaidText(schema, word)) != values.end()) return;
  causes.push_back(NotSupported(at + '.' + word, said, values));
}

void CheckRuleWords(const json& rule, const std::string& at, const json& parent, Causes& causes) {
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
  const bool is_int_or_string = SaysTrue(parent, kIntOrString);
  for (const auto& [name, why] : kWords) {
    const json& said = Said(rule, name);
    if (said.is_null() || said == false || said == "") continue;
    if (is_int_or_string && name == std::string_view("type")) continue;
    causes.push_back(ForbiddenField(at + '.' + name, why));
  }
  ForEachPart(rule, at, [&](const json& part, const std::string& where) {
    CheckRuleWords(part, where, json(), causes);
  });
  ForEachRule(rule, at, [&](const json& each, const std::string& where) {
    CheckRuleWords(each, where, parent, causes);
  });
}

}  // namespace kopp::apiserver
