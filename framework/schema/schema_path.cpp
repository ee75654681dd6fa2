#include "schema/schema_path.hpp"

#include <stdexcept>
#include <string>

namespace kopp::schema {
namespace {

constexpr std::string_view kDelimiters = ".[]";

/// Removes and returns the text up to the next delimiter.
std::string ConsumeName(std::string_view& path) {
  std::string name(path.substr(0, path.find_first_of(kDelimiters)));
  path.remove_prefix(name.size());
  return name;
}

/// Removes and returns the name in ['name'].
std::string ConsumeArrayNotation(std::string_view& path) {
  const std::size_t end = path.find("']");
  if (!path.starts_with("['") || end == std::string_view::npos)
    throw std::invalid_argument("expected a name in quotes");
  std::string name(path.substr(2, end - 2));
  path.remove_prefix(end + 2);
  return name;
}

FieldRef SchemaOfField(const FieldRef& schema, const std::string& name) {
  FieldRef property = schema["properties"].Key(name);
  if (property.exists()) return property;
  if (schema["additionalProperties"].value().is_object()) return schema["additionalProperties"];
  throw std::invalid_argument("does not refer to a valid field");
}

}  // namespace

FieldRef SchemaAtPath(const FieldRef& schema, std::string_view path, ArrayNotation array_notation) {
  FieldRef found = schema;
  do {
    std::string name;
    if (path.starts_with('[')) {
      if (array_notation == ArrayNotation::kForbidden)
        throw std::invalid_argument("array notation is not allowed");
      name = ConsumeArrayNotation(path);
    } else if (path.starts_with('.')) {
      path.remove_prefix(1);
      if (path.empty()) throw std::invalid_argument("unexpected end of JSON path");
      name = ConsumeName(path);
    } else {
      throw std::invalid_argument("expected [ or . but got: " + ConsumeName(path));
    }
    found = SchemaOfField(found, name);
  } while (!path.empty());
  return found;
}

}  // namespace kopp::schema
