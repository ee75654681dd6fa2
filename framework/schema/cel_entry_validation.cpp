#include "cel_entry_validation.hpp"

#include "schema/field_validation.hpp"
#include "schema/schema_path.hpp"

#include <stdexcept>
#include <string>

namespace kopp::schema {
namespace {

bool IsBlank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string::npos;
}

bool HasLineBreak(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\v\f");
  const std::size_t last = text.find_last_not_of(" \t\r\n\v\f");
  if (first == std::string::npos) return false;
  return text.substr(first, last - first + 1).find_first_of("\r\n") != std::string::npos;
}

/// Validates the rule and the message of an entry. Reports only the first error, as kube-apiserver.
void ValidateRuleAndMessage(const FieldRef& entry, FieldErrors& errors) {
  const FieldRef rule = entry["rule"];
  const FieldRef message = entry["message"];
  const auto add_invalid = [&](const char* detail) {
    errors.push_back(InvalidValue(message.path(), message.text(), detail));
  };
  if (IsBlank(rule.text())) {
    errors.push_back(Required(rule.path(), "rule is not specified"));
  } else if (!message.text().empty() && IsBlank(message.text())) {
    add_invalid("must be non-empty if specified");
  } else if (HasLineBreak(message.text())) {
    add_invalid("must not contain line breaks");
  } else if (HasLineBreak(rule.text()) && message.text().empty()) {
    errors.push_back(
        Required(message.path(), "message must be specified if rule contains line breaks"));
  }
}

void ValidateFieldPath(const FieldRef& path, const FieldRef& schema, FieldErrors& errors) {
  const std::string text = path.text();
  const auto add_invalid = [&](const char* detail) {
    errors.push_back(InvalidValue(path.path(), text, detail));
  };
  if (text.empty()) return;
  if (IsBlank(text)) add_invalid("must be non-empty if specified");
  if (HasLineBreak(text)) add_invalid("must not contain line breaks");
  try {
    static_cast<void>(SchemaAtPath(schema, text, ArrayNotation::kAllowed));
  } catch (const std::invalid_argument&) {
    add_invalid("must be a valid path");
  }
}

}  // namespace

void ValidateCelEntries(const FieldRef& schema, FieldErrors& errors) {
  for (const FieldRef& entry : schema["x-kubernetes-validations"].items()) {
    ValidateRuleAndMessage(entry, errors);
    const FieldRef expression = entry["messageExpression"];
    if (!expression.text().empty() && IsBlank(expression.text())) {
      errors.push_back(
          Required(expression.path(), "messageExpression must be non-empty if specified"));
    }
    if (entry["reason"].exists()) {
      ValidateEnum(
          entry["reason"],
          {"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"},
          errors);
    }
    ValidateFieldPath(entry["fieldPath"], schema, errors);
  }
}

}  // namespace kopp::schema
