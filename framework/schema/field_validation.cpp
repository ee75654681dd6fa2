#include "schema/field_validation.hpp"

#include "schema/go_quoted.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace kopp::schema {
namespace {

using nlohmann::json;

constexpr const char* kMustBeNonNegative = "must be greater than or equal to 0";

bool IsPercentage(const std::string& text) {
  return text.size() > 1 && text.back() == '%' &&
         text.find_first_not_of("0123456789") == text.size() - 1;
}

/// Validates one of a selector's matchExpressions. Returns whether it can be evaluated.
bool ValidateLabelSelectorRequirement(const FieldRef& requirement, FieldErrors& errors) {
  const std::string selector_operator = requirement["operator"].text();
  const FieldRef values = requirement["values"];
  const std::size_t error_count = errors.size();
  if (selector_operator == "In" || selector_operator == "NotIn") {
    if (values.size() == 0) {
      errors.push_back(
          Required(values.path(), "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (selector_operator == "Exists" || selector_operator == "DoesNotExist") {
    if (values.size() > 0) {
      errors.push_back(ForbiddenField(
          values.path(), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else {
    errors.push_back(InvalidJson(requirement["operator"].path(), selector_operator,
                                 "not a valid selector operator"));
  }
  const FieldRef key = requirement["key"];
  for (const std::string& detail : ValidateQualifiedName(key.text())) {
    errors.push_back(InvalidValue(key.path(), key.text(), detail));
  }
  for (const FieldRef& value : values.items()) ValidateName(value, &ValidateLabelValue, errors);
  return errors.size() == error_count;
}

}  // namespace

bool ValidateRequired(const FieldRef& field, FieldErrors& errors, const std::string& detail) {
  if (field.exists() && !field.is("")) return true;
  errors.push_back(Required(field.path(), detail));
  return false;
}

void ValidateNonNegative(const FieldRef& field, FieldErrors& errors) {
  if (field.number() < 0)
    errors.push_back(InvalidValue(field.path(), field.value(), kMustBeNonNegative));
}

void ValidateEnum(const FieldRef& field, const std::vector<std::string>& values,
                  FieldErrors& errors) {
  if (std::find(values.begin(), values.end(), field.text()) != values.end()) return;
  errors.push_back(NotSupported(field.path(), field.text(), values));
}

void ValidateTextEnum(const FieldRef& field, const std::vector<std::string>& values,
                      FieldErrors& errors) {
  if (std::find(values.begin(), values.end(), field.text()) != values.end()) return;
  errors.push_back(NotSupportedFormatted(field.path(), GoQuoted(field.text()), values));
}

void ValidateName(const FieldRef& field, NameError (*validate_name)(std::string_view),
                  FieldErrors& errors) {
  if (const NameError detail = validate_name(field.text())) {
    errors.push_back(InvalidValue(field.path(), field.text(), *detail));
  }
}

void ValidatePort(const FieldRef& field, FieldErrors& errors) {
  if (field.number() >= 1 && field.number() <= 65535) return;
  errors.push_back(
      InvalidValue(field.path(), field.number(), "must be between 1 and 65535, inclusive"));
}

void ValidateId(const FieldRef& field, FieldErrors& errors) {
  if (field.number() >= 0 && field.number() <= std::numeric_limits<std::int32_t>::max()) return;
  errors.push_back(
      InvalidValue(field.path(), field.value(), "must be between 0 and 2147483647, inclusive"));
}

void ValidateIntOrPercent(const FieldRef& field, FieldErrors& errors) {
  if (!field.value().is_string()) return ValidateNonNegative(field, errors);
  if (IsPercentage(field.text())) return;
  errors.push_back(
      InvalidJson(field.path(), field.value(),
                  "a valid percent string must be a numeric string followed by an ending '%' "
                  "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"));
}

void ValidateTaintEffect(const FieldRef& field, FieldErrors& errors) {
  ValidateEnum(field, {"NoSchedule", "PreferNoSchedule", "NoExecute"}, errors);
}

void ValidateUnique(const FieldRef& field, std::set<std::string>& seen, FieldErrors& errors) {
  if (!seen.insert(field.text()).second) errors.push_back(Duplicate(field.path(), field.value()));
}

void ValidateUniqueJson(const FieldRef& field, std::set<std::string>& seen, FieldErrors& errors) {
  if (!seen.insert(field.text()).second)
    errors.push_back(DuplicateJson(field.path(), field.value()));
}

void ValidateLabels(const FieldRef& field, FieldErrors& errors) {
  for (const std::string& key : field.keys()) {
    for (const std::string& detail : ValidateQualifiedName(key)) {
      errors.push_back(InvalidValue(field.path(), key, detail));
    }
    const std::string value = field[key].text();
    if (const NameError detail = ValidateLabelValue(value)) {
      errors.push_back(InvalidValue(field.path(), value, *detail));
    }
  }
}

void ValidateImmutable(const FieldRef& before, const FieldRef& after, FieldErrors& errors) {
  if (before.value() == after.value()) return;
  const bool is_empty_string = before.value().is_string() && !after.exists();
  errors.push_back(
      InvalidValue(after.path(), is_empty_string ? json("") : after.value(), "field is immutable"));
}

void ValidateImmutableJson(const FieldRef& before, const FieldRef& after, FieldErrors& errors) {
  if (before.value() != after.value())
    errors.push_back(InvalidJson(after.path(), after.value(), "field is immutable"));
}

bool ValidateLabelSelector(const FieldRef& selector, FieldErrors& errors) {
  const std::size_t error_count = errors.size();
  ValidateLabels(selector["matchLabels"], errors);
  bool is_valid = errors.size() == error_count;
  for (const FieldRef& requirement : selector["matchExpressions"].items()) {
    is_valid &= ValidateLabelSelectorRequirement(requirement, errors);
  }
  return is_valid;
}

bool SelectorMatches(const FieldRef& selector, const FieldRef& labels) {
  if (!selector.exists()) return false;
  std::map<std::string, std::string> label_values;
  for (const std::string& key : labels.keys()) label_values[key] = labels[key].text();
  const FieldRef match_labels = selector["matchLabels"];
  const auto keys = match_labels.keys();
  const bool labels_match = std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const auto found = label_values.find(key);
    return found != label_values.end() && found->second == match_labels[key].text();
  });
  const auto expressions = selector["matchExpressions"].items();
  return labels_match &&
         std::all_of(expressions.begin(), expressions.end(), [&](const FieldRef& requirement) {
           const auto found = label_values.find(requirement["key"].text());
           const std::string selector_operator = requirement["operator"].text();
           if (selector_operator == "Exists") return found != label_values.end();
           if (selector_operator == "DoesNotExist") return found == label_values.end();
           const FieldRef allowed = requirement["values"];
           const json& values = allowed.value();
           const bool is_in =
               found != label_values.end() &&
               std::find(values.begin(), values.end(), found->second) != values.end();
           return is_in == (selector_operator == "In");
         });
}

FieldError InvalidFormattedValue(std::string field, const std::string& formatted,
                                 const std::string& detail) {
  return {"FieldValueInvalid",
          "Invalid value: " + formatted + (detail.empty() ? "" : ": ") + detail, std::move(field)};
}

std::string SelectorJson(const FieldRef& selector) {
  nlohmann::ordered_json formatted = nlohmann::ordered_json::object();
  for (const char* name : {"matchLabels", "matchExpressions"}) {
    if (selector[name].exists()) formatted[name] = selector[name].value();
  }
  return formatted.dump();
}

}  // namespace kopp::schema
