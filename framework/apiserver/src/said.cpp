#include "said.hpp"

namespace kopp::apiserver {

using nlohmann::json;

const json& Said(const json& object, std::string_view name) {
  static const json nothing;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? nothing : *found;
}

std::string SaidText(const json& object, std::string_view name) {
  const json& said = Said(object, name);
  return said.is_string() ? said.get<std::string>() : "";
}

std::vector<std::string> SaidTexts(const json& object, std::string_view name) {
  std::vector<std::string> texts;
  const json& said = Said(object, name);
  if (!said.is_array()) return texts;
  for (const json& each : said) {
    if (each.is_string()) texts.push_back(each.get<std::string>());
  }
  return texts;
}

}  // namespace kopp::apiserver
