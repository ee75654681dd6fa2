#include "fields/field_rules.hpp"

#include "base/ascii.hpp"
#include "schema/field_validation.hpp"
#include "schema/formats.hpp"
#include "schema/go_quoted.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <string_view>

#include <kopp/k8s/quantity.hpp>

namespace kopp::apiserver {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

bool IsUnset(const FieldRef& field) {
  const nlohmann::json& value = field.value();
  return !field.exists() || value == "" || (value.is_structured() && value.empty());
}

void ValidateNotEmpty(const FieldRef& field, FieldErrors& errors) {
  if (IsUnset(field)) errors.push_back(Required(field.path(), ""));
}

void ValidateRange(const FieldRef& field, std::int64_t min, std::int64_t max, FieldErrors& errors) {
  if (field.number() >= min && field.number() <= max) return;
  errors.push_back(InvalidValue(
      field.path(), field.number(),
      "must be between " + std::to_string(min) + " and " + std::to_string(max) + ", inclusive"));
}

void ValidateQualifiedField(const std::string& name, const std::string& path, FieldErrors& errors) {
  for (const std::string& detail : ValidateQualifiedName(name))
    errors.push_back(InvalidValue(path, name, detail));
}

void ValidateNoBacksteps(const FieldRef& path, FieldErrors& errors) {
  const std::string elements = '/' + path.text() + '/';
  if (elements.find("/../") == std::string::npos) return;
  errors.push_back(InvalidValue(path.path(), path.text(), "must not contain '..'"));
}

void ValidateDescendingPath(const FieldRef& path, FieldErrors& errors) {
  if (path.text().starts_with('/'))
    errors.push_back(InvalidValue(path.path(), path.text(), "must be a relative path"));
  ValidateNoBacksteps(path, errors);
}

void ValidateNonReservedPath(const FieldRef& path, FieldErrors& errors) {
  ValidateDescendingPath(path, errors);
  // The other rule has reported "../".
  if (path.text().starts_with("..") && !path.text().starts_with("../"))
    errors.push_back(InvalidValue(path.path(), path.text(), "must not start with '..'"));
}

void ValidateDomainPrefixedPath(const FieldRef& path, FieldErrors& errors) {
  if (!ValidateRequired(path, errors)) return;
  const std::string text = path.text();
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
    errors.push_back(InvalidValue(path.path(), text,
                                  "must be a domain-prefixed path (such as \"acme.io/foo\")"));
    return;
  }
  const std::string domain = text.substr(0, slash);
  if (const NameError detail = ValidateDnsSubdomain(domain))
    errors.push_back(InvalidValue(path.path(), domain, *detail));
  const std::string rest = text.substr(slash + 1);
  const bool is_path = std::all_of(rest.begin(), rest.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/-._~%!$&'()*+,;=:").find(c) != std::string_view::npos;
  });
  if (is_path) return;
  errors.push_back(InvalidValue(
      path.path(), rest,
      R"(Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+'))"));
}

bool ValidatePortName(const FieldRef& name, FieldErrors& errors) {
  const std::string text = name.text();
  const std::size_t error_count = errors.size();
  const auto add_invalid = [&](const char* detail) {
    errors.push_back(InvalidValue(name.path(), text, detail));
  };
  if (text.size() > 15) add_invalid("must be no more than 15 characters");
  if (!std::all_of(text.begin(), text.end(),
                   [](char c) { return IsLower(c) || detail::IsDigit(c) || c == '-'; })) {
    add_invalid("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::none_of(text.begin(), text.end(), IsLower)) {
    add_invalid("must contain at least one letter (a-z)");
  }
  if (text.find("--") != std::string::npos) add_invalid("must not contain consecutive hyphens");
  if (text.starts_with('-') || text.ends_with('-')) {
    add_invalid("must not begin or end with a hyphen");
  }
  return errors.size() == error_count;
}

void ValidatePortNumberOrName(const FieldRef& port, FieldErrors& errors) {
  if (port.value().is_string()) {
    ValidatePortName(port, errors);
  } else {
    ValidatePort(port, errors);
  }
}

void ValidateAtMost100Percent(const FieldRef& value, FieldErrors& errors) {
  const std::string text = value.text();
  if (!text.ends_with('%') || std::strtod(text.c_str(), nullptr) <= 100) return;
  errors.push_back(InvalidValue(value.path(), text, "must not be greater than 100%"));
}

void ValidateIntOrPercentUpTo100(const FieldRef& value, FieldErrors& errors) {
  ValidateIntOrPercent(value, errors);
  ValidateAtMost100Percent(value, errors);
}

bool HasFraction(const std::string& amount) {
  const std::int64_t thousandths = k8s::Quantity(amount).MilliValue();
  return std::abs(thousandths) != std::numeric_limits<std::int64_t>::max() &&
         thousandths % 1000 != 0;
}

FieldError NotFound(const FieldRef& name) {
  return {"FieldValueNotFound", "Not found: " + GoQuoted(name.text()), name.path()};
}

FieldRef At(const FieldRef& field, const std::string& path) { return {field.value(), path}; }

void ForEachContainer(const FieldRef& spec, const std::function<void(const FieldRef&)>& visit) {
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const FieldRef& container : spec[list].items()) visit(container);
  }
}

}  // namespace kopp::apiserver
