#include "fields/field_rules.hpp"

#include "schema/field_validation.hpp"
#include "schema/formats.hpp"
#include "schema/go_quoted.hpp"

#include <cstdlib>
#include <limits>

#include <kopp/k8s/quantity.hpp>

namespace kopp::apiserver {

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
