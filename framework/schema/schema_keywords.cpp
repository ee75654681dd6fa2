#include "schema_keywords.hpp"

#include "schema/accessors.hpp"
#include "schema/field_validation.hpp"

#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace kopp::schema {
namespace {

using nlohmann::json;

void ValidatePattern(const FieldRef& pattern, FieldErrors& errors) {
  if (pattern.text().empty()) return;
  try {
    const Pattern compiled(pattern.text());
  } catch (const std::invalid_argument& error) {
    errors.push_back(InvalidValue(
        pattern.path(), pattern.value(),
        std::string("must be a valid regular expression, but isn't: ") + error.what()));
  }
}

/// Adds errors for the keywords that a nested value validation must not have.
void ValidateForbiddenKeywords(const FieldRef& schema, FieldErrors& errors) {
  struct ForbiddenKeyword {
    const char* name;
    const char* detail;
  };
  constexpr ForbiddenKeyword kForbiddenKeywords[] = {
      {"additionalProperties", "must be undefined to be structural"},
      {"default", "must be undefined to be structural"},
      {"description", "must be empty to be structural"},
      {"nullable", "must be false to be structural"},
      {"title", "must be empty to be structural"},
      {"type", "must be empty to be structural"},
      {kEmbeddedResource, "must be false to be structural"},
      {kIntOrStringKeyword, "must be false to be structural"},
      {kListMapKeys, "must be empty to be structural"},
      {kListType, "must be undefined to be structural"},
      {kMapType, "must be undefined to be structural"},
      {kPreserveUnknownFields, "must be false to be structural"},
      {"x-kubernetes-validations", "must be empty to be structural"},
  };
  for (const auto& [name, detail] : kForbiddenKeywords) {
    const FieldRef keyword = schema[name];
    if (keyword.exists() && !keyword.is(false) && !keyword.is(""))
      errors.push_back(ForbiddenField(keyword.path(), detail));
  }
  const FieldRef metadata = schema["properties"].Key("metadata");
  if (metadata.exists())
    errors.push_back(ForbiddenField(metadata.path(), "must not be specified in a nested context"));
}

bool IsIntOrStringAnyOf(const FieldRef& any_of) {
  return any_of.is(json::array({{{"type", "integer"}}, {{"type", "string"}}}));
}

void ValidateValueValidations(const FieldRef& schema, bool skips_any_of, FieldErrors& errors);

void ValidateNestedValueValidation(const FieldRef& schema, bool skips_any_of, FieldErrors& errors) {
  ValidateValueValidations(schema, skips_any_of, errors);
  const FieldRef properties = schema["properties"];
  for (const std::string& name : properties.keys())
    ValidateNestedValueValidation(properties.Key(name), false, errors);
  if (schema["items"].exists()) ValidateNestedValueValidation(schema["items"], false, errors);
  ValidateForbiddenKeywords(schema, errors);
}

/// `skips_any_of`: anyOf may specify types.
void ValidateValueValidations(const FieldRef& schema, bool skips_any_of, FieldErrors& errors) {
  ValidatePattern(schema["pattern"], errors);
  for (const char* keyword : {"allOf", "anyOf", "oneOf"}) {
    if (skips_any_of && keyword == std::string_view("anyOf")) continue;
    bool may_specify_types = keyword == std::string_view("allOf");
    for (const FieldRef& nested : schema[keyword].items()) {
      const bool is_int_or_string = may_specify_types && IsIntOrStringAnyOf(nested["anyOf"]);
      ValidateNestedValueValidation(nested, is_int_or_string, errors);
      may_specify_types = false;  // only in the first schema of allOf
    }
  }
  if (schema["not"].exists()) ValidateNestedValueValidation(schema["not"], false, errors);
}

}  // namespace

void ValidateTypeIs(const char* type, const FieldRef& schema, const std::string& detail,
                    FieldErrors& errors) {
  const FieldRef field = schema["type"];
  if (field.is(type)) return;
  errors.push_back(field.text().empty() ? Required(field.path(), detail)
                                        : InvalidValue(field.path(), field.value(), detail));
}

void ValidateValueValidations(const FieldRef& schema, FieldErrors& errors) {
  ValidateValueValidations(schema, IsIntOrStringAnyOf(schema["anyOf"]), errors);
}

json EffectiveFactor(const json& value, const json& factor) {
  const double whole = std::trunc(factor.get<double>());
  if (!IsInteger(value) || whole >= 0x1p63) return factor;
  return static_cast<std::int64_t>(whole);
}

bool IsMultipleOf(const json& value, const json& multiple_of) {
  const json factor = EffectiveFactor(value, multiple_of);
  if (IsInteger(value) && factor.is_number_integer()) {
    return value.get<std::int64_t>() % factor.get<std::int64_t>() == 0;
  }
  constexpr double kMaxExact = 9007199254740991;  // 2^53-1
  const auto step = factor.get<double>();
  const double times = step < 1 ? 1 / step * value.get<double>() : value.get<double>() / step;
  if (!(std::abs(times) <= kMaxExact)) return false;
  const double whole = std::trunc(times);
  return times == whole || (whole > 0 && (times - whole) / (times + whole) < 1e-9);
}

}  // namespace kopp::schema
