#include "schema_keywords.hpp"

#include <string_view>

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

}  // namespace kopp::schema
