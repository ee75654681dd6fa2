#include "decoding/typed_value_validation.hpp"

#include "schema/field_set.hpp"
#include "schema/typed_value.hpp"

#include <set>
#include <stdexcept>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Type = Schema::Type;

/// Formats a value as Go's verb %v does.
std::string GoFormat(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return value.dump();
  std::string fields;
  if (value.is_array()) {
    for (const json& item : value) fields += (fields.empty() ? "" : " ") + GoFormat(item);
    return '[' + fields + ']';
  }
  for (const auto& [name, field] : value.items()) {
    fields += (fields.empty() ? "" : " ") + name + ':' + GoFormat(field);
  }
  return "map[" + fields + ']';
}

std::string Got(const json& value) {
  return ", got &value.valueUnstructured{Value:" +
         (value.is_string() ? value.dump() : GoFormat(value)) + '}';
}

class TypedValueValidator {
 public:
  std::vector<std::string> errors;

  void Validate(const json& value, const Schema& schema, const std::string& path) {
    if (value.is_null()) return;
    switch (schema.type) {
      case Type::kObject:
      case Type::kMap:
        if (!value.is_object()) return AddTypeError("map", value, path);
        return ValidateFields(value, schema, path);
      case Type::kList:
        if (!value.is_array()) return AddTypeError("list", value, path);
        return ValidateItems(value, schema, path);
      case Type::kString:
        if (!value.is_string() && schema.format != "quantity") AddTypeError("string", value, path);
        return;
      case Type::kInteger:
      case Type::kNumber:
        if (!value.is_number()) AddTypeError("numeric (int or float)", value, path);
        return;
      case Type::kBoolean:
        if (!value.is_boolean()) AddTypeError("boolean", value, path);
        return;
      default:
        return;
    }
  }

 private:
  void AddTypeError(const std::string& expected, const json& value, const std::string& path) {
    errors.push_back(path + ": expected " + expected + Got(value));
  }

  void ValidateFields(const json& value, const Schema& schema, const std::string& path) {
    for (const auto& [name, field] : value.items()) {
      const std::string field_path = path + '.' + name;
      if (const Schema* field_schema = schema.FieldSchema(name)) {
        Validate(field, *field_schema, field_path);
      } else if (!schema.preserve_unknown_fields) {
        errors.push_back(field_path + ": field not declared in schema");
      }
    }
  }

  void ValidateItems(const json& value, const Schema& schema, const std::string& path) {
    const bool has_keys = schema.IsKeyed() || schema.IsSet();
    std::set<std::string> keys;
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::string path_element = '[' + std::to_string(i) + ']';
      if (has_keys) {
        try {
          const std::string key = PathElementOf(schema, value[i]);
          path_element = PathElementText(key);
          if (!keys.insert(key).second) {
            errors.push_back(path + ": duplicate entries for key " + path_element);
          }
        } catch (const std::invalid_argument& error) {
          errors.push_back(fmt::format("{}: element {}: {}", path, i, error.what()));
        }
      }
      Validate(value[i], *schema.items, path + path_element);
    }
  }
};

}  // namespace

std::vector<std::string> ValidateTypedValue(const json& object, const Schema& schema) {
  TypedValueValidator validator;
  validator.Validate(object, schema, "");
  return std::move(validator.errors);
}

}  // namespace kopp::apiserver
