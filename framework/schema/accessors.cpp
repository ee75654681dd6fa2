#include "schema/accessors.hpp"

#include <cstdint>
#include <limits>

namespace kopp::schema {

using nlohmann::json;

const json& Field(const json& object, std::string_view name) {
  static const json null;
  const auto member = object.is_object() ? object.find(name) : object.end();
  return member == object.end() ? null : *member;
}

std::string StringField(const json& object, std::string_view name) {
  const json& value = Field(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

std::vector<std::string> StringListField(const json& object, std::string_view name) {
  std::vector<std::string> strings;
  const json& list = Field(object, name);
  if (!list.is_array()) return strings;
  for (const json& item : list) {
    if (item.is_string()) strings.push_back(item.get<std::string>());
  }
  return strings;
}

const json& ValueAt(const json& object, std::string_view pointer) {
  static const json null;
  const json::json_pointer path{std::string(pointer)};
  return object.contains(path) ? object.at(path) : null;
}

std::string StringAt(const json& object, std::string_view pointer, const std::string& fallback) {
  const json& value = ValueAt(object, pointer);
  if (value.is_number()) return value.dump();
  return value.is_string() ? value.get<std::string>() : fallback;
}

std::int64_t IntegerAt(const json& object, std::string_view pointer) {
  const json& value = ValueAt(object, pointer);
  return value.is_number() ? value.get<std::int64_t>() : 0;
}

bool IsTrueAt(const json& object, std::string_view pointer) {
  return ValueAt(object, pointer) == true;
}

bool IsInteger(const json& value) {
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>() <=
           static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  }
  return value.is_number_integer();
}

}  // namespace kopp::schema
