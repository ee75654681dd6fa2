#include "schema/structural_schema_validation.hpp"

#include "cel_entry_validation.hpp"
#include "list_type_validation.hpp"
#include "schema/field_validation.hpp"
#include "schema/formats.hpp"
#include "schema/pattern.hpp"
#include "schema/pruning.hpp"
#include "schema/structural_schema.hpp"
#include "schema/value_validation.hpp"
#include "schema_keywords.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

namespace kopp::schema {
namespace {

using nlohmann::json;

bool ContainsNull(const json& value) {
  return value.is_null() ||
         (value.is_structured() && std::any_of(value.begin(), value.end(), &ContainsNull));
}

class StructuralSchemaValidator {
 public:
  FieldErrors errors;

  void ValidateRoot(const FieldRef& schema) {
    ValidateTypeAndObjectMeta(schema["properties"]);
    const FieldRef type = schema["type"];
    if (!type.exists()) {
      errors.push_back(Required(type.path(), "must not be empty at the root"));
    } else if (!type.is("object")) {
      errors.push_back(InvalidValue(type.path(), type.value(), "must be object at the root"));
    }
    if (schema["nullable"].is(true)) {
      errors.push_back(
          ForbiddenField(schema["nullable"].path(), "nullable cannot be true at the root"));
    }
    ValidateSchema(schema);
  }

  void ValidateDefaults(const FieldRef& schema) {
    ForEachChildSchema(schema, [&](const FieldRef& child) {
      if (child["default"].exists()) ValidateDefault(child);
      ValidateDefaults(child);
    });
  }

 private:
  /// Validates the root properties that all kinds have: apiVersion, kind and metadata.
  void ValidateTypeAndObjectMeta(const FieldRef& properties) {
    ValidateObjectTypes(properties);
    const FieldRef metadata = properties.Key("metadata");
    for (const std::string& name : metadata["properties"].keys()) {
      if (name == "name" || name == "generateName") continue;
      errors.push_back(ForbiddenField(metadata.path(),
                                      "must not specify anything other than name and "
                                      "generateName, but metadata is implicitly specified"));
      return;
    }
  }

  void ValidateObjectTypes(const FieldRef& properties) {
    for (const char* name : {"apiVersion", "kind"})
      ValidatePropertyType("string", properties.Key(name));
    ValidatePropertyType("object", properties.Key("metadata"));
  }

  /// Requires that a property has this type or no type.
  void ValidatePropertyType(const std::string& type, const FieldRef& property) {
    const FieldRef field = property["type"];
    if (!field.exists() || field.is(type)) return;
    errors.push_back(InvalidValue(field.path(), field.value(), "must be " + type));
  }

  void ValidateSchema(const FieldRef& schema) {
    ValidateType(schema);
    ValidateUnsupportedKeywords(schema);
    ValidateExtensions(schema);
    ValidateListType(schema, errors);
    ValidateCelEntries(schema, errors);
    const bool is_int_or_string = schema[kIntOrStringKeyword].is(true);
    ForEachNestedValueValidation(schema, [&](const FieldRef& nested) {
      ValidateNestedValueValidation(nested, is_int_or_string, errors);
    });
    ForEachChildSchema(schema, [&](const FieldRef& child) {
      ValidateSchema(child);
      RequireType(child);
    });
  }

  void RequireType(const FieldRef& child) {
    if (child["type"].exists() || child[kIntOrStringKeyword].is(true) ||
        child[kPreserveUnknownFields].is(true) || child["$ref"].size() > 0)
      return;
    const bool is_item = child.path().ends_with(".items");
    errors.push_back(
        Required(child["type"].path(), is_item ? "must not be empty for specified array items"
                                               : "must not be empty for specified object fields"));
  }

  void ValidateType(const FieldRef& schema) {
    const FieldRef type = schema["type"];
    if (type.is("array") && !schema["items"].exists()) {
      errors.push_back(Required(schema["items"].path(), "must be specified"));
    }
    if (!type.exists() || type.is("")) return;
    ValidateEnum(type, {"array", "boolean", "integer", "number", "object", "string"}, errors);
    if (type.is("null")) {
      errors.push_back(ForbiddenField(
          type.path(), "type cannot be set to null, use nullable as an alternative"));
    }
  }

  void ValidateUnsupportedKeywords(const FieldRef& schema) {
    for (const char* name : {"$ref", "definitions", "dependencies", "id", "patternProperties"}) {
      const FieldRef keyword = schema[name];
      if (keyword.size() > 0) {
        errors.push_back(ForbiddenField(keyword.path(), std::string(name) + " is not supported"));
      }
    }
    if (schema["additionalItems"].exists()) {
      errors.push_back(
          ForbiddenField(schema["additionalItems"].path(), "additionalItems is not supported"));
    }
    if (schema["uniqueItems"].is(true)) {
      errors.push_back(ForbiddenField(schema["uniqueItems"].path(),
                                      "uniqueItems cannot be set to true since the runtime "
                                      "complexity becomes quadratic"));
    }
    if (schema["items"].value().is_array()) {
      errors.push_back(
          ForbiddenField(schema["items"].path(), "items must be a schema object and not an array"));
    }
    if (schema["additionalProperties"].exists() && schema["properties"].size() > 0) {
      errors.push_back(ForbiddenField(schema["additionalProperties"].path(),
                                      "additionalProperties and properties are mutual exclusive"));
    }
    ValidatePattern(schema["pattern"]);
  }

  void ValidatePattern(const FieldRef& pattern) {
    if (!pattern.exists()) return;
    try {
      const Pattern compiled(pattern.text());
    } catch (const std::invalid_argument& error) {
      errors.push_back(InvalidValue(
          pattern.path(), pattern.value(),
          std::string("must be a valid regular expression, but isn't: ") + error.what()));
    }
  }

  /// Validates the x-kubernetes- extensions, except for those of lists.
  void ValidateExtensions(const FieldRef& schema) {
    const FieldRef preserve_unknown_fields = schema[kPreserveUnknownFields];
    if (preserve_unknown_fields.is(false)) {
      errors.push_back(
          InvalidValue(preserve_unknown_fields.path(), false, "must be true or undefined"));
    }
    if (schema[kEmbeddedResource].is(true)) {
      if (schema["properties"].size() == 0 && !preserve_unknown_fields.is(true)) {
        errors.push_back(Required(schema["properties"].path(),
                                  std::string("must not be empty if ") + kEmbeddedResource +
                                      " is true without " + kPreserveUnknownFields));
      }
      ValidateTypeIs("object", schema,
                     std::string("must be object if ") + kEmbeddedResource + " is true", errors);
      ValidateObjectTypes(schema["properties"]);
    }
    if (schema[kMapType].exists()) {
      ValidateEnum(schema[kMapType], {"atomic", "granular"}, errors);
      ValidateTypeIs("object", schema,
                     std::string("must be object if ") + kMapType + " is specified", errors);
    }
  }

  void ValidateDefault(const FieldRef& schema) {
    const FieldRef default_value = schema["default"];
    const auto structural = StructuralSchema(schema.value());
    json value = default_value.value();
    NormalizeNumbers(value);
    if (!Prune(value, *structural).empty()) {
      errors.push_back(InvalidValue(default_value.path(), default_value.value(),
                                    "must not have unknown fields"));
      return;
    }
    if (!ContainsNull(value)) ApplySchemaDefaults(value, *structural);  // it would remove nulls
    FieldErrors value_errors = ValidateValue(value, *structural, default_value.path());
    std::move(value_errors.begin(), value_errors.end(), std::back_inserter(errors));
  }
};

}  // namespace

FieldErrors ValidateStructuralSchema(const FieldRef& schema) {
  StructuralSchemaValidator validator;
  validator.ValidateRoot(schema);
  // Defaults can be validated only against a valid schema.
  if (validator.errors.empty()) validator.ValidateDefaults(schema);
  return std::move(validator.errors);
}

std::vector<std::string> UnknownStringFormats(const FieldRef& schema) {
  std::vector<std::string> formats;
  const std::string format = schema["format"].text();
  if (schema["type"].is("string") && !format.empty() && !IsKnownFormat(format))
    formats.push_back(format);
  ForEachChildSchema(schema, [&](const FieldRef& child) {
    for (std::string& nested : UnknownStringFormats(child)) formats.push_back(std::move(nested));
  });
  return formats;
}

}  // namespace kopp::schema
