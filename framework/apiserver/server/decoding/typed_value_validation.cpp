#include "decoding/typed_value_validation.hpp"

#include "json/go_values.hpp"
#include "schema/field_set.hpp"
#include "schema/typed_value.hpp"

#include <set>
#include <stdexcept>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Type = Schema::Type;

/// Formats a value for a type error. Go prints it in another way for each expected type.
std::string Got(Type expected, const json& value) {
  switch (expected) {
    case Type::kString:
      return "&value.valueUnstructured{Value:" + FormatGoSyntax(value) + '}';
    case Type::kInteger:
    case Type::kNumber:
      return GoTypeOf(value);
    default:
      return "&{" + FormatGoValue(value) + '}';
  }
}

/// Returns whether a schema of a string allows any scalar in apply configurations. kube-apiserver
/// checks the types of strings with a format only when it decodes them.
bool AllowsAnyScalar(const Schema& schema) {
  const std::string& format = schema.format;
  return !format.empty() && format != "string" && format != "bytes" && format != "byte";
}

class TypedValueValidator {
 public:
  std::vector<std::string> errors;

  void Validate(const json& value, const Schema& schema, const std::string& path) {
    if (value.is_null()) return;
    switch (schema.type) {
      case Type::kObject:
      case Type::kMap:
        if (!value.is_object()) return AddTypeError("map", value, schema, path);
        return ValidateFields(value, schema, path);
      case Type::kList:
        if (!value.is_array()) return AddTypeError("list", value, schema, path);
        return ValidateItems(value, schema, path);
      case Type::kString:
        if (!AllowsAnyScalar(schema)) {
          if (!value.is_string()) AddTypeError("string", value, schema, path);
        } else if (value.is_structured()) {
          errors.push_back(path + ": expected any scalar, got &{" + FormatGoValue(value) + '}');
        }
        return;
      case Type::kInteger:
      case Type::kNumber:
        if (!value.is_number()) AddTypeError("numeric (int or float)", value, schema, path);
        return;
      case Type::kBoolean:
        if (!value.is_boolean()) AddTypeError("boolean", value, schema, path);
        return;
      default:
        return;
    }
  }

 private:
  void AddTypeError(const char* expected, const json& value, const Schema& schema,
                    const std::string& path) {
    errors.push_back(
        fmt::format("{}: expected {}, got {}", path, expected, Got(schema.type, value)));
  }

  /// As in kube-apiserver, an undeclared field ends the validation of its object.
  void ValidateFields(const json& value, const Schema& schema, const std::string& path) {
    for (const auto& [name, field] : value.items()) {
      const std::string field_path = path + '.' + name;
      if (const Schema* field_schema = schema.FieldSchema(name)) {
        Validate(field, *field_schema, field_path);
      } else if (!schema.preserve_unknown_fields) {
        errors.push_back(field_path + ": field not declared in schema");
        return;
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
          return;
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
