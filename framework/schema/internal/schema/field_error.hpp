#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::schema {

/// A validation error of one field: a StatusCause.
struct FieldError {
  std::string reason{};   ///< "FieldValueInvalid"
  std::string message{};  ///< "Invalid value: …"
  std::string field{};    ///< "spec.replicas"
};
using FieldErrors = std::vector<FieldError>;

/// Returns the messages of all errors without duplicates, as in the message of a Status: one error
/// as it is, several in brackets.
[[nodiscard]] std::string ToString(const FieldErrors& errors);

/// Formats a value as Go does in field errors: strings in quotes, objects and lists as JSON.
[[nodiscard]] std::string GoValue(const nlohmann::json& value);

// Field errors with the same messages as kube-apiserver.
[[nodiscard]] FieldError Required(std::string field, const std::string& detail);
[[nodiscard]] FieldError InvalidValue(std::string field, const nlohmann::json& value,
                                      const std::string& detail);
/// Like InvalidValue(), for a string whose Go type is a pointer or not `string` itself: the message
/// has its JSON instead of the quoted text.
[[nodiscard]] FieldError InvalidJson(std::string field, const nlohmann::json& value,
                                     const std::string& detail);
[[nodiscard]] FieldError ForbiddenField(std::string field, const std::string& detail);
[[nodiscard]] FieldError Duplicate(std::string field, const nlohmann::json& value);
/// Like Duplicate(), for the same strings as InvalidJson().
[[nodiscard]] FieldError DuplicateJson(std::string field, const nlohmann::json& value);
[[nodiscard]] FieldError TooLong(std::string field, std::size_t max);
[[nodiscard]] FieldError NotSupported(std::string field, const nlohmann::json& value,
                                      const std::vector<std::string>& supported);
/// Like NotSupported(), for a value that is already formatted.
[[nodiscard]] FieldError NotSupportedFormatted(std::string field, const std::string& value,
                                               const std::vector<std::string>& supported);

}  // namespace kopp::schema
