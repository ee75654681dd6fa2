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
#include <cstddef>
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

/// The keywords of JSON Schema that a structural schema cannot have.
constexpr const char* kUnsupportedKeywords[] = {
    "id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"};

bool IsUsed(const FieldRef& keyword) {
  return keyword.size() > 0 || !keyword.text().empty() || keyword.is(true) ||
         keyword.is(json::object());
}

/// Returns whether a schema, or a schema in it, has a keyword that is not supported. Such a schema
/// cannot be validated as a structural schema.
bool HasUnsupportedKeyword(const FieldRef& schema) {
  bool found = schema["items"].value().is_array();
  for (const char* name : kUnsupportedKeywords) found |= IsUsed(schema[name]);
  for (const char* keyword : {"allOf", "anyOf", "oneOf"}) {
    for (const FieldRef& nested : schema[keyword].items()) found |= HasUnsupportedKeyword(nested);
  }
  if (schema["not"].exists()) found |= HasUnsupportedKeyword(schema["not"]);
  ForEachChildSchema(schema, [&](const FieldRef& child) { found |= HasUnsupportedKeyword(child); });
  return found;
}

class StructuralSchemaValidator {
 public:
  FieldErrors errors;

  /// Validates what makes a schema structural. Sorts the errors by their text.
  void ValidateStructure(const FieldRef& root) {
    const std::size_t error_count = errors.size();
    const FieldRef type = root["type"];
    if (!type.text().empty() && !type.is("object"))
      errors.push_back(InvalidValue(type.path(), type.value(), "must be object at the root"));
    if (root["additionalProperties"].exists()) {
      errors.push_back(
          ForbiddenField(root["additionalProperties"].path(), "must not be used at the root"));
    }
    ValidateRootMetadata(root["properties"].Key("metadata"));
    ValidateObjectTypes(root["properties"]);
    ValidateStructureOf(root, "must not be empty at the root");
    std::sort(errors.begin() + static_cast<std::ptrdiff_t>(error_count), errors.end(),
              [](const FieldError& a, const FieldError& b) {
                return a.field + ": " + a.message < b.field + ": " + b.message;
              });
  }

  void ValidateDefaults(const FieldRef& schema) {
    ForEachChildSchema(schema, [&](const FieldRef& child) {
      if (child["default"].exists()) ValidateDefault(child);
      ValidateDefaults(child);
    });
  }

  /// Validates the keywords of a schema and of all schemas in it.
  void ValidateKeywords(const FieldRef& schema) {
    ValidateUnsupportedKeywords(schema);
    ValidateProperties(schema);
    for (const char* keyword : {"additionalProperties", "not"}) {
      if (schema[keyword].value().is_object()) ValidateKeywords(schema[keyword]);
    }
    const FieldRef properties = schema["properties"];
    for (const std::string& name : properties.keys()) ValidateKeywords(properties.Key(name));
    for (const char* keyword : {"allOf", "oneOf", "anyOf"}) {
      for (const FieldRef& nested : schema[keyword].items()) ValidateKeywords(nested);
    }
    if (schema["items"].value().is_object()) ValidateKeywords(schema["items"]);
    ValidateExtensions(schema);
    ValidateListType(schema, errors);
    ValidateCelEntries(schema, errors);
  }

 private:
  /// The root schema may only restrict the names in metadata.
  void ValidateRootMetadata(const FieldRef& metadata) {
    for (const std::string& name : metadata["properties"].keys()) {
      if (name == "name" || name == "generateName") continue;
      errors.push_back(ForbiddenField(metadata.path(),
                                      "must not specify anything other than name and "
                                      "generateName, but metadata is implicitly specified"));
      return;
    }
  }

  /// Validates the types of the properties that all objects have.
  void ValidateObjectTypes(const FieldRef& properties) {
    for (const char* name : {"apiVersion", "kind"})
      ValidatePropertyType("string", properties.Key(name));
    ValidatePropertyType("object", properties.Key("metadata"));
  }

  void ValidatePropertyType(const std::string& type, const FieldRef& property) {
    const FieldRef field = property["type"];
    if (!property.exists() || field.is(type)) return;
    errors.push_back(InvalidValue(field.path(), field.text(), "must be " + type));
  }

  /// `missing_type` is the error if the schema has no type.
  void ValidateStructureOf(const FieldRef& schema, const char* missing_type) {
    if (schema["type"].is("array") && !schema["items"].exists())
      errors.push_back(Required(schema["items"].path(), "must be specified"));
    ValidateIntOrString(schema);
    ValidateValueValidations(schema, errors);
    if (schema[kEmbeddedResource].is(true)) {
      ValidateEmbeddedResource(schema);
    } else if (schema["type"].text().empty() && !schema[kIntOrStringKeyword].is(true) &&
               !schema[kPreserveUnknownFields].is(true)) {
      errors.push_back(Required(schema["type"].path(), missing_type));
    }
    ForEachChildSchema(schema, [&](const FieldRef& child) {
      const bool is_item = child.path() == schema["items"].path();
      ValidateStructureOf(child, is_item ? "must not be empty for specified array items"
                                         : "must not be empty for specified object fields");
    });
  }

  void ValidateIntOrString(const FieldRef& schema) {
    if (!schema[kIntOrStringKeyword].is(true)) return;
    for (const char* keyword : {kPreserveUnknownFields, kEmbeddedResource}) {
      if (!schema[keyword].is(true)) continue;
      errors.push_back(
          InvalidValue(schema[keyword].path(), true,
                       std::string("must be false if ") + kIntOrStringKeyword + " is true"));
    }
  }

  void ValidateEmbeddedResource(const FieldRef& schema) {
    ValidateTypeIs("object", schema,
                   std::string("must be object if ") + kEmbeddedResource + " is true", errors);
    if (schema["additionalProperties"].exists()) {
      errors.push_back(
          ForbiddenField(schema["additionalProperties"].path(),
                         std::string("must not be used if ") + kEmbeddedResource + " is set"));
    }
    ValidateObjectTypes(schema["properties"]);
    if (schema["properties"].size() > 0 || schema[kPreserveUnknownFields].is(true)) return;
    errors.push_back(Required(schema["properties"].path(),
                              std::string("must not be empty if ") + kEmbeddedResource +
                                  " is true without " + kPreserveUnknownFields));
  }

  void ValidateUnsupportedKeywords(const FieldRef& schema) {
    const FieldRef type = schema["type"];
    if (!type.text().empty()) {
      ValidateTextEnum(type, {"array", "boolean", "integer", "number", "object", "string"}, errors);
    }
    for (const char* name : kUnsupportedKeywords) {
      const FieldRef keyword = schema[name];
      if (IsUsed(keyword))
        errors.push_back(ForbiddenField(keyword.path(), std::string(name) + " is not supported"));
    }
    if (type.is("null")) {
      errors.push_back(ForbiddenField(
          type.path(), "type cannot be set to null, use nullable as an alternative"));
    }
    if (schema["items"].value().is_array()) {
      errors.push_back(
          ForbiddenField(schema["items"].path(), "items must be a schema object and not an array"));
    }
  }

  void ValidateProperties(const FieldRef& schema) {
    if (schema["uniqueItems"].is(true)) {
      errors.push_back(ForbiddenField(schema["uniqueItems"].path(),
                                      "uniqueItems cannot be set to true since the runtime "
                                      "complexity becomes quadratic"));
    }
    if (schema["additionalProperties"].exists() && schema["properties"].size() > 0) {
      errors.push_back(ForbiddenField(schema["additionalProperties"].path(),
                                      "additionalProperties and properties are mutual exclusive"));
    }
  }

  /// Validates the x-kubernetes- extensions, except for those of lists.
  void ValidateExtensions(const FieldRef& schema) {
    const FieldRef preserve_unknown_fields = schema[kPreserveUnknownFields];
    if (preserve_unknown_fields.is(false)) {
      errors.push_back(
          InvalidValue(preserve_unknown_fields.path(), false, "must be true or undefined"));
    }
    if (!schema[kMapType].exists()) return;
    ValidateTypeIs("object", schema, std::string("must be object if ") + kMapType + " is specified",
                   errors);
    ValidateTextEnum(schema[kMapType], {"atomic", "granular"}, errors);
  }

  void ValidateDefault(const FieldRef& schema) {
    const FieldRef default_value = schema["default"];
    const auto structural = StructuralSchema(schema.value());
    json value = default_value.value();
    NormalizeNumbers(value);
    if (!Prune(value, *structural, &PruneMetadata).empty()) {
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
  if (!HasUnsupportedKeyword(schema)) {
    validator.ValidateStructure(schema);
    // Defaults can be validated only against a structural schema.
    if (validator.errors.empty()) validator.ValidateDefaults(schema);
  }
  if (schema["nullable"].is(true)) {
    validator.errors.insert(
        validator.errors.begin(),
        ForbiddenField(schema["nullable"].path(), "nullable cannot be true at the root"));
  }
  validator.ValidateKeywords(schema);
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
