#include "schema_keywords.hpp"

#include "schema/parse.hpp"

#include <cmath>
#include <cstdint>

namespace kopp::schema {

void ValidateTypeIs(const char* type, const FieldRef& schema, const std::string& detail,
                    FieldErrors& errors) {
  const FieldRef field = schema["type"];
  if (!field.is(type)) errors.push_back(InvalidValue(field.path(), field.value(), detail));
}

void ValidateNestedValueValidation(const FieldRef& schema, bool may_specify_type,
                                   FieldErrors& errors) {
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
      {kPreserveUnknownFields, "must be false to be structural"},
  };
  for (const auto& [name, detail] : kForbiddenKeywords) {
    const FieldRef keyword = schema[name];
    if (!keyword.exists() || keyword.is(false) || keyword.is("")) continue;
    if (may_specify_type && name == std::string_view("type")) continue;
    errors.push_back(ForbiddenField(keyword.path(), detail));
  }
  ForEachChildSchema(
      schema, [&](const FieldRef& child) { ValidateNestedValueValidation(child, false, errors); });
  ForEachNestedValueValidation(schema, [&](const FieldRef& nested) {
    ValidateNestedValueValidation(nested, may_specify_type, errors);
  });
}

using nlohmann::json;

json EffectiveFactor(const json& value, const json& factor) {
  // For a factor below 1, kube-apiserver would divide by zero: use the factor unchanged.
  const double whole = std::trunc(factor.get<double>());
  if (!IsInteger(value) || whole < 1 || whole >= 0x1p63) return factor;
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
