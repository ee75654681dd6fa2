#include "schema/accessors.hpp"
#include "schema/field_error.hpp"
#include "schema/pruning.hpp"
#include "schema/structural_schema.hpp"
#include "schema/value_validation.hpp"

#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/informer/object.hpp>
#include <kopp/validate.hpp>

namespace kopp {
namespace {

using nlohmann::json;

/// Returns the schema by which the API server validates an object before it stores it. If status is
/// a subresource, the server removes it from the object first: it is no field of this schema.
json SchemaOfObject(const json& version) {
  json schema = version.at("schema").at("openAPIV3Schema");
  if (version.contains(json::json_pointer("/subresources/status"))) {
    schema["properties"].erase("status");
  }
  return schema;
}

json SchemaOfVersion(const CustomResourceDefinition& definition, std::string_view api_version) {
  const json& spec = definition.object().at("spec");
  const Kind kind{api_version};
  for (const json& version : spec.at("versions")) {
    if (spec.at("group") != kind.group() || version.at("name") != kind.version()) continue;
    return SchemaOfObject(version);
  }
  throw std::invalid_argument("the CustomResourceDefinition " + definition.name() +
                              " has no version " + std::string(api_version));
}

}  // namespace

detail::VersionSchema::VersionSchema(const CustomResourceDefinition& definition,
                                     std::string_view api_version)
    : schema_(schema::StructuralSchema(SchemaOfVersion(definition, api_version))) {}

FieldErrors detail::VersionSchema::Validate(json object) const {
  object.erase("metadata");
  schema::NormalizeNumbers(object);
  schema::Prune(object, *schema_, &schema::PruneMetadata);
  schema::ApplySchemaDefaults(object, *schema_);
  FieldErrors errors;
  for (schema::FieldError& error : schema::ValidateValue(object, *schema_)) {
    errors.push_back({.field = std::move(error.field),
                      .message = std::move(error.message),
                      .reason = std::move(error.reason)});
  }
  return errors;
}

FieldErrors detail::VersionSchema::ValidateText(std::string_view object) const {
  return Validate(json::parse(object));
}

FieldErrors Validate(const json& object, const CustomResourceDefinition& definition) {
  if (!object.is_object()) throw std::invalid_argument("the object to validate is not an object");
  return detail::VersionSchema(definition, schema::StringField(object, "apiVersion"))
      .Validate(object);
}

}  // namespace kopp
