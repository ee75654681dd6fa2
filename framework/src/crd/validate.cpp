#include "api/field_error.hpp"
#include "schema/pruning.hpp"
#include "schema/structural_schema.hpp"
#include "validation/value_validation.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/informer/object.hpp>
#include <kopp/validate.hpp>

namespace kopp {
namespace {

using nlohmann::json;

/// Returns the openAPIV3Schema of a version.
const json& SchemaOfVersion(const CustomResourceDefinition& definition,
                            std::string_view api_version) {
  const json& spec = definition.object().at("spec");
  const Kind kind{api_version};
  for (const json& version : spec.at("versions")) {
    if (spec.at("group") != kind.group() || version.at("name") != kind.version()) continue;
    return version.at("schema").at("openAPIV3Schema");
  }
  throw std::invalid_argument("the CustomResourceDefinition " + definition.name() +
                              " has no version " + std::string(api_version));
}

std::vector<FieldError> ValidateVersion(json object, std::string_view api_version,
                                        const CustomResourceDefinition& definition) {
  const auto schema = apiserver::StructuralSchema(SchemaOfVersion(definition, api_version));
  object.erase("metadata");
  apiserver::Prune(object, *schema);
  apiserver::ApplySchemaDefaults(object, *schema);
  std::vector<FieldError> errors;
  for (apiserver::FieldError& error : apiserver::ValidateValue(object, *schema)) {
    errors.push_back({.field = std::move(error.field),
                      .message = std::move(error.message),
                      .reason = std::move(error.reason)});
  }
  return errors;
}

}  // namespace

std::string FieldError::ToString() const {
  return field.empty() ? message : field + ": " + message;
}

std::vector<FieldError> Validate(const json& object, const CustomResourceDefinition& definition) {
  if (!object.is_object()) throw std::invalid_argument("the object to validate is not an object");
  return ValidateVersion(object, object.value("apiVersion", ""), definition);
}

std::vector<FieldError> detail::ValidateText(std::string_view text, std::string_view api_version,
                                             const CustomResourceDefinition& definition) {
  return ValidateVersion(json::parse(text), api_version, definition);
}

}  // namespace kopp
