#include "schema/value_validation.hpp"

#include "embedded_validation.hpp"
#include "schema/accessors.hpp"
#include "schema/formats.hpp"
#include "schema/go_quoted.hpp"
#include "schema/typed_value.hpp"
#include "schema_keywords.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

namespace kopp::schema {
namespace {

using nlohmann::json;
using Type = Schema::Type;

/// Returns the OpenAPI type of a value.
std::string JsonTypeOf(const json& value) {
  if (value.is_null()) return "null";
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  return IsInteger(value) ? "integer" : "number";
}

/// Returns the type of a schema as in error messages, or "" if any type is allowed.
std::string TypeNameOf(const Schema& schema) {
  if (const SchemaConstraints* constraints = schema.constraints.get()) {
    const json* type = constraints->Find("type");
    if (type != nullptr && type->is_string()) return type->get<std::string>();
  }
  return schema.type == Type::kIntOrString ? "integer,string" : "";
}

bool HasType(const std::string& type_name, const json& value) {
  const std::string found = JsonTypeOf(value);
  if (type_name.empty() || type_name == found) return true;
  if (type_name == "integer,string") return found == "integer" || found == "string";
  return type_name == "number" && found == "integer";
}

/// Returns the number of characters, not bytes, of UTF-8 text.
std::size_t CharacterCount(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

std::string FormatNumber(const json& number) {
  const auto value = number.get<double>();
  if (std::trunc(value) == value && std::abs(value) < 1e15) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return number.dump();
}

/// Validates values against schemas. Paths are relative to the validated value, in the form that
/// kube-openapi uses in messages: "spec.ports[0]", but "" for the value itself.
class ValueValidator {
 public:
  explicit ValueValidator(std::string root_path) : root_path_(std::move(root_path)) {}

  void Validate(const json& value, const Schema& schema, const std::string& path,
                const json* before) {
    if (before != nullptr && *before == value) return;
    ValidateType(value, schema, path);
    if (schema.constraints == nullptr) return;
    const SchemaConstraints& constraints = *schema.constraints;
    if (!value.is_null()) ValidateLogicalSchemas(value, constraints, path);
    if (value.is_string()) ValidateString(value, schema, constraints, path);
    if (value.is_number()) ValidateNumber(value, constraints, path);
    if (value.is_array()) ValidateList(value, schema, constraints, path, before);
    ValidateEnumKeyword(value, constraints, path);
    if (value.is_object()) ValidateObject(value, schema, constraints, path, before);
  }

  FieldErrors errors;

 private:
  /// Returns the field of an error at `path`.
  [[nodiscard]] std::string FieldOf(const std::string& path) const {
    const std::string relative = path.substr(path.starts_with('.') ? 1 : 0);
    if (root_path_.empty()) return relative.empty() ? "<nil>" : relative;
    return relative.empty() ? root_path_ : root_path_ + '.' + relative;
  }
  void Add(const std::string& reason, const std::string& path, const std::string& message) {
    errors.push_back({reason, message, FieldOf(path)});
  }
  void AddInvalid(const std::string& path, const json& value, const std::string& detail) {
    errors.push_back(InvalidValue(FieldOf(path), value, path + " in body " + detail));
  }
  void AddLogicalError(const std::string& path, const std::string& requirement) {
    errors.push_back(InvalidValue(FieldOf(""), "", '"' + path + "\" must " + requirement));
  }
  void AddTypeError(const std::string& path, const std::string& expected,
                    const std::string& found) {
    Add("FieldValueTypeInvalid", path,
        "Invalid value: " + GoQuoted(found) + ": " + path + " in body must be of type " + expected +
            ": " + GoQuoted(found));
  }

  /// Returns the format that takes part in the validation of the type. In a default of a CRD,
  /// kube-openapi also considers formats that it does not know.
  [[nodiscard]] std::string FormatOf(const Schema& schema) const {
    if (root_path_.empty() || schema.constraints == nullptr) return schema.format;
    const json* format = schema.constraints->Find("format");
    return format == nullptr ? "" : format->get<std::string>();
  }

  void ValidateType(const json& value, const Schema& schema, const std::string& path) {
    const std::string type_name = TypeNameOf(schema);
    if (HasType(type_name, value) || (value.is_null() && schema.nullable)) return;
    const std::string format = FormatOf(schema);
    const bool may_have_format = !value.is_string() && !value.is_array() && !value.is_null();
    const std::string found_format = !value.is_number() ? ""
                                     : IsInteger(value) ? "int64"
                                                        : "float64";
    if (may_have_format && !format.empty() && format != found_format)
      return AddTypeError(path, format, found_format);
    // kube-openapi checks strings with a format by their format, and lists not at all.
    const bool is_numeric = type_name.starts_with("integer") || type_name == "number";
    if (!format.empty() && !is_numeric && (value.is_string() || value.is_array())) return;
    AddTypeError(path, type_name, JsonTypeOf(value));
  }

  /// Returns the errors of a value against another schema.
  FieldErrors ErrorsOf(const json& value, const Schema& schema, const std::string& path) const {
    ValueValidator validator(root_path_);
    validator.Validate(value, schema, path, nullptr);
    return std::move(validator.errors);
  }
  void AddAll(FieldErrors others) {
    std::move(others.begin(), others.end(), std::back_inserter(errors));
  }

  /// Validates allOf, anyOf, oneOf and not.
  void ValidateLogicalSchemas(const json& value, const SchemaConstraints& constraints,
                              const std::string& path) {
    struct Result {
      std::size_t valid_count = 0;
      FieldErrors first_errors{};  // of the first schema that the value violates
    };
    const auto validate_each = [&](const std::vector<const Schema*>& schemas) {
      Result result;
      for (const Schema* schema : schemas) {
        FieldErrors schema_errors = ErrorsOf(value, *schema, path);
        if (schema_errors.empty()) ++result.valid_count;
        if (result.first_errors.empty()) result.first_errors = std::move(schema_errors);
      }
      return result;
    };
    if (auto [valid_count, first_errors] = validate_each(constraints.any_of);
        !constraints.any_of.empty() && valid_count == 0) {
      AddLogicalError(path, "validate at least one schema (anyOf)");
      AddAll(std::move(first_errors));
    }
    if (auto [valid_count, first_errors] = validate_each(constraints.one_of);
        !constraints.one_of.empty() && valid_count != 1) {
      AddLogicalError(path,
                      "validate one and only one schema (oneOf). Found " +
                          (valid_count == 0 ? "none valid"
                                            : std::to_string(valid_count) + " valid alternatives"));
      if (valid_count == 0) AddAll(std::move(first_errors));
    }
    const std::size_t error_count = errors.size();
    for (const Schema* schema : constraints.all_of) AddAll(ErrorsOf(value, *schema, path));
    if (errors.size() > error_count) {
      AddLogicalError(path, "validate all the schemas (allOf)");
    }
    if (constraints.not_schema != nullptr &&
        ErrorsOf(value, *constraints.not_schema, path).empty()) {
      AddLogicalError(path, "not validate the schema (not)");
    }
  }

  void ValidateString(const json& value, const Schema& schema, const SchemaConstraints& constraints,
                      const std::string& path) {
    const auto& text = value.get_ref<const std::string&>();
    const std::size_t length = CharacterCount(text);
    const json* max_length = constraints.Find("maxLength");
    const json* min_length = constraints.Find("minLength");
    if (max_length != nullptr && length > *max_length) {
      errors.push_back(TooLong(FieldOf(path), max_length->get<std::size_t>()));
    } else if (min_length != nullptr && length < *min_length) {
      AddInvalid(path, value, "should be at least " + min_length->dump() + " chars long");
    } else if (constraints.pattern && !constraints.pattern->PartialMatch(text)) {
      AddInvalid(path, value,
                 "should match '" + constraints.Find("pattern")->get<std::string>() + '\'');
    }
    if (!schema.format.empty() && !MatchesFormat(text, schema.format)) {
      AddTypeError(path, schema.format, text);
    }
  }

  void ValidateMultiple(const json& value, const json& multiple_of, const std::string& path) {
    const json factor = EffectiveFactor(value, multiple_of);
    if (factor == 0) {
      errors.push_back(InvalidValue(
          FieldOf(path), 0, "factor MultipleOf declared for " + path + " must be positive: 0"));
    } else if (!IsMultipleOf(value, multiple_of)) {
      AddInvalid(path, value, "should be a multiple of " + FormatNumber(factor));
    }
  }

  void ValidateNumber(const json& value, const SchemaConstraints& constraints,
                      const std::string& path) {
    const auto number = value.get<double>();
    const auto is_true = [&](const char* keyword) {
      const json* found = constraints.Find(keyword);
      return found != nullptr && *found == true;
    };
    if (const json* factor = constraints.Find("multipleOf")) {
      ValidateMultiple(value, *factor, path);
    }
    if (const json* max = constraints.Find("maximum")) {
      const bool exclusive = is_true("exclusiveMaximum");
      if (number > max->get<double>() || (exclusive && number == max->get<double>())) {
        AddInvalid(path, value,
                   (exclusive ? "should be less than " : "should be less than or equal to ") +
                       FormatNumber(*max));
      }
    }
    if (const json* min = constraints.Find("minimum")) {
      const bool exclusive = is_true("exclusiveMinimum");
      if (number < min->get<double>() || (exclusive && number == min->get<double>())) {
        AddInvalid(path, value,
                   (exclusive ? "should be greater than " : "should be greater than or equal to ") +
                       FormatNumber(*min));
      }
    }
  }

  void AddTooMany(const std::string& path, std::size_t count, const json& max) {
    Add("FieldValueTooMany", path,
        "Too many: " + std::to_string(count) + ": must have at most " + max.dump() +
            (max == 1 ? " item" : " items"));
  }

  void ValidateList(const json& list, const Schema& schema, const SchemaConstraints& constraints,
                    const std::string& path, const json* before) {
    const auto old_items = ItemsByKey(schema, before);
    for (std::size_t i = 0; schema.items != nullptr && i < list.size(); ++i) {
      Validate(list[i], *schema.items, path + '[' + std::to_string(i) + ']',
               FindOldItem(list[i], schema, old_items));
    }
    const json* min = constraints.Find("minItems");
    const json* max = constraints.Find("maxItems");
    if (min != nullptr && list.size() < *min) {
      AddInvalid(path, list.size(), "should have at least " + min->dump() + " items");
    }
    if (max != nullptr && list.size() > *max) AddTooMany(path, list.size(), *max);
  }

  using Items = std::map<std::string, const json*>;

  /// Returns the items of a list map by their keys; empty for other lists.
  static Items ItemsByKey(const Schema& schema, const json* list) {
    Items items;
    if (list == nullptr || !list->is_array() || !schema.IsKeyed()) return items;
    for (const json& item : *list) {
      if (const auto key = KeyOf(schema, item)) items.emplace(*key, &item);
    }
    return items;
  }

  /// Returns the old item with the same keys, or nullptr.
  static const json* FindOldItem(const json& item, const Schema& schema, const Items& old_items) {
    if (old_items.empty()) return nullptr;
    const auto key = KeyOf(schema, item);
    const auto found = key ? old_items.find(*key) : old_items.end();
    return found == old_items.end() ? nullptr : found->second;
  }

  /// Returns the map keys of an item as text, or nothing if it lacks them.
  static std::optional<std::string> KeyOf(const Schema& schema, const json& item) {
    try {
      return PathElementOf(schema, item);
    } catch (const std::invalid_argument&) {
      return std::nullopt;  // reported by ValidateObject
    }
  }

  void ValidateEnumKeyword(const json& value, const SchemaConstraints& constraints,
                           const std::string& path) {
    const json* values = constraints.Find("enum");
    if (values == nullptr || values->empty()) return;
    if (std::find(values->begin(), values->end(), value) != values->end()) return;
    std::vector<std::string> supported;
    for (const json& enum_value : *values) {
      supported.push_back(enum_value.is_string() ? enum_value.get<std::string>()
                                                 : enum_value.dump());
    }
    errors.push_back(NotSupportedFormatted(FieldOf(path), GoValue(value), supported));
  }

  void ValidateObject(const json& object, const Schema& schema,
                      const SchemaConstraints& constraints, const std::string& path,
                      const json* before) {
    const json* min = constraints.Find("minProperties");
    const json* max = constraints.Find("maxProperties");
    if (min != nullptr && object.size() < *min) {
      return AddInvalid(path, object.size(), "should have at least " + min->dump() + " properties");
    }
    if (max != nullptr && object.size() > *max) return AddTooMany(path, object.size(), *max);
    for (const auto& [name, value] : object.items()) {
      const Schema::Field* field = schema.Find(name);
      const Schema* value_schema = field != nullptr ? field->schema : schema.items;
      if (value_schema == nullptr) continue;
      const bool existed = before != nullptr && before->is_object() && before->contains(name);
      Validate(value, *value_schema, path.empty() ? name : path + '.' + name,
               existed ? &(*before)[name] : nullptr);
    }
    for (const std::string& name : constraints.required) {
      if (!object.contains(name)) errors.push_back(Required(FieldOf(path + '.' + name), ""));
    }
  }

  const std::string root_path_;
};

}  // namespace

FieldErrors ValidateValue(const json& value, const Schema& schema, const std::string& path,
                          const json* before) {
  ValueValidator validator(path);
  validator.Validate(value, schema, "", before);
  FieldErrors errors = std::move(validator.errors);
  ValidateKubernetesExtensions({value, path}, schema, errors);
  return errors;
}

}  // namespace kopp::schema
