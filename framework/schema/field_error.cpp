#include "schema/field_error.hpp"

#include "schema/go_quoted.hpp"

#include <algorithm>
#include <utility>

namespace kopp::schema {
namespace {

using nlohmann::json;

/// Formats a value as Go does in field errors: strings in quotes, objects and lists as JSON.
std::string GoValue(const json& value) {
  return value.is_string() ? GoQuoted(value.get_ref<const std::string&>()) : value.dump();
}

std::string Message(const FieldError& error) {
  return error.field.empty() ? error.message : error.field + ": " + error.message;
}

}  // namespace

std::string ToString(const FieldErrors& errors) {
  std::vector<std::string> messages;
  for (const FieldError& error : errors) {
    std::string message = Message(error);
    if (std::find(messages.begin(), messages.end(), message) == messages.end()) {
      messages.push_back(std::move(message));
    }
  }
  if (messages.size() == 1) return messages.front();
  std::string joined;
  for (const std::string& message : messages) joined += (joined.empty() ? "[" : ", ") + message;
  return joined + ']';
}

FieldError Required(std::string field, const std::string& detail) {
  return {"FieldValueRequired",
          detail.empty() ? std::string("Required value") : "Required value: " + detail,
          std::move(field)};
}

FieldError InvalidValue(std::string field, const json& value, const std::string& detail) {
  return {"FieldValueInvalid", "Invalid value: " + GoValue(value) + ": " + detail,
          std::move(field)};
}

FieldError ForbiddenField(std::string field, const std::string& detail) {
  return {"FieldValueForbidden", "Forbidden: " + detail, std::move(field)};
}

FieldError Duplicate(std::string field, const json& value) {
  return {"FieldValueDuplicate", "Duplicate value: " + GoValue(value), std::move(field)};
}

FieldError TooLong(std::string field, std::size_t max) {
  return {"FieldValueTooLong", "Too long: may not be more than " + std::to_string(max) + " bytes",
          std::move(field)};
}

FieldError NotSupported(std::string field, const json& value,
                        const std::vector<std::string>& supported) {
  return NotSupportedFormatted(std::move(field), value.dump(), supported);
}

FieldError NotSupportedFormatted(std::string field, const std::string& value,
                                 const std::vector<std::string>& supported) {
  std::string values;
  for (const std::string& name : supported) {
    values += (values.empty() ? "\"" : ", \"") + name + '"';
  }
  return {"FieldValueNotSupported", "Unsupported value: " + value + ": supported values: " + values,
          std::move(field)};
}

}  // namespace kopp::schema
