#include "json/label_text.hpp"

#include "json/schema_names.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <map>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Formats a requirement of a LabelSelector: "b in (2,3)".
std::string Requirement(const json& expression) {
  std::string key = StringAt(expression, "/key");
  const std::string op = StringAt(expression, "/operator");
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return '!' + key;
  std::vector<std::string> values;
  for (const json& value : ValueAt(expression, "/values")) values.push_back(value);
  std::sort(values.begin(), values.end());
  return key + (op == "In" ? " in (" : " notin (") + Join(values) + ')';
}

}  // namespace

std::string Join(const std::vector<std::string>& words, const std::string& between) {
  std::string joined;
  for (const std::string& word : words) {
    if (&word != &words.front()) joined += between;
    joined += word;
  }
  return joined;
}

std::string FormatLabels(const json& labels) {
  std::vector<std::string> words;
  for (const auto& [name, value] : labels.items()) {
    words.push_back(name + '=' + value.get<std::string>());
  }
  return Join(words);
}

std::string FormatSelector(const json& selector) {
  std::map<std::string, std::vector<std::string>> by_key;
  for (const auto& [name, value] : ValueAt(selector, "/matchLabels").items()) {
    by_key[name].push_back(name + '=' + value.get<std::string>());
  }
  for (const json& expression : ValueAt(selector, "/matchExpressions")) {
    by_key[StringAt(expression, "/key")].push_back(Requirement(expression));
  }
  std::vector<std::string> words;
  for (const auto& [key, requirements] : by_key) {
    words.insert(words.end(), requirements.begin(), requirements.end());
  }
  return Join(words);
}

}  // namespace kopp::apiserver
