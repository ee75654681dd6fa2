#include "schema/field_error.hpp"

#include "schema/go_quoted.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/field_error.hpp>

namespace kopp {
namespace {

FieldError ToPublic(schema::FieldError error) {
  return {.field = std::move(error.field),
          .message = std::move(error.message),
          .reason = std::move(error.reason)};
}

}  // namespace

std::string FieldError::ToString() const {
  return field.empty() ? message : field + ": " + message;
}

namespace field {

Value::Value(std::string_view text) : text_(schema::GoQuoted(text)) {}
Value::Value(double number) : text_(schema::GoValue(number)) {}

FieldError Required(std::string_view field, std::string_view detail) {
  return ToPublic(schema::Required(std::string(field), std::string(detail)));
}

FieldError Invalid(std::string_view field, const Value& value, std::string_view detail) {
  return {.field = std::string(field),
          .message = "Invalid value: " + value.text() + ": " + std::string(detail),
          .reason = "FieldValueInvalid"};
}

FieldError Forbidden(std::string_view field, std::string_view detail) {
  return ToPublic(schema::ForbiddenField(std::string(field), std::string(detail)));
}

FieldError Duplicate(std::string_view field, const Value& value) {
  return {.field = std::string(field),
          .message = "Duplicate value: " + value.text(),
          .reason = "FieldValueDuplicate"};
}

FieldError NotSupported(std::string_view field, const Value& value,
                        const std::vector<std::string>& supported) {
  return ToPublic(schema::NotSupportedFormatted(std::string(field), value.text(), supported));
}

FieldError NotFound(std::string_view field, const Value& value) {
  return {.field = std::string(field),
          .message = "Not found: " + value.text(),
          .reason = "FieldValueNotFound"};
}

}  // namespace field

}  // namespace kopp
