#include "schema/field_error.hpp"

#include "schema/go_quoted.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace kopp::schema {
namespace {

using nlohmann::json;

/// Formats a value as Go's package json does, which escapes characters with a meaning in HTML.
std::string GoJson(const json& value) {
  constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"<", "\\u003c"},      {">", "\\u003e"},      {"&", "\\u0026"},
      {"\u2028", "\\u2028"}, {"\u2029", "\\u2029"},
  };
  std::string text = value.dump();
  for (const auto& [character, escape] : kEscapes) {
    for (std::size_t at = 0; (at = text.find(character, at)) != std::string::npos;)
      text.replace(at, character.size(), escape);
  }
  return text;
}

std::string Message(const FieldError& error) {
  return error.field.empty() ? error.message : error.field + ": " + error.message;
}

}  // namespace

std::string GoValue(const json& value) {
  return value.is_string() ? GoQuoted(value.get_ref<const std::string&>()) : GoJson(value);
}

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

FieldError InvalidJson(std::string field, const json& value, const std::string& detail) {
  return {"FieldValueInvalid", "Invalid value: " + GoJson(value) + ": " + detail, std::move(field)};
}

FieldError ForbiddenField(std::string field, const std::string& detail) {
  return {"FieldValueForbidden", "Forbidden: " + detail, std::move(field)};
}

FieldError Duplicate(std::string field, const json& value) {
  return {"FieldValueDuplicate", "Duplicate value: " + GoValue(value), std::move(field)};
}

FieldError DuplicateJson(std::string field, const json& value) {
  return {"FieldValueDuplicate", "Duplicate value: " + GoJson(value), std::move(field)};
}

FieldError TooLong(std::string field, std::size_t max) {
  return {"FieldValueTooLong", "Too long: may not be more than " + std::to_string(max) + " bytes",
          std::move(field)};
}

FieldError NotSupported(std::string field, const json& value,
                        const std::vector<std::string>& supported) {
  return NotSupportedFormatted(std::move(field), GoJson(value), supported);
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
