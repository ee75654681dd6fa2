#include "at.hpp"

namespace kopp::apiserver {

using nlohmann::json;

const json& At(const json& object, const std::string& pointer) {
  static const json nothing;
  const json::json_pointer to(pointer);
  return object.contains(to) ? object.at(to) : nothing;
}

std::string TextAt(const json& object, const std::string& pointer, const std::string& otherwise) {
  const json& found = At(object, pointer);
  if (found.is_number()) return found.dump();
  return found.is_string() ? found.get<std::string>() : otherwise;
}

std::int64_t NumberAt(const json& object, const std::string& pointer) {
  const json& found = At(object, pointer);
  return found.is_number() ? found.get<std::int64_t>() : 0;
}

bool IsTrueAt(const json& object, const std::string& pointer) {
  return At(object, pointer) == true;
}

}  // namespace kopp::apiserver
