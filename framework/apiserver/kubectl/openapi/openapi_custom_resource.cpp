#include "openapi/openapi_custom_resource.hpp"

#include "openapi/openapi_document.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
constexpr std::string_view kListMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
constexpr std::string_view kDeleteOptions = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
const std::string api_conventions =
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

json ReferenceTo(std::string_view type) {
  return {{"$ref", std::string(kOpenApiReferencePrefix) + std::string(type)}};
}

json DescribedReference(std::string_view type, const std::string& description) {
  return {{"allOf", json::array({ReferenceTo(type)})}, {"description", description}};
}

json ObjectMetaField() {
  return DescribedReference(
      kObjectMeta, "Standard object's metadata. More info: " + api_conventions + "#metadata");
}

/// Returns the name of a kind: "com.example.v1.Widget" for the group example.com.
std::string OpenApiTypeName(const Resource& resource, const std::string& kind) {
  std::string reversed;
  for (std::size_t end = resource.group.size(); end != std::string::npos;) {
    const auto dot = end == 0 ? std::string::npos : resource.group.rfind('.', end - 1);
    const std::size_t start = dot == std::string::npos ? 0 : dot + 1;
    reversed += resource.group.substr(start, end - start) + '.';
    end = dot;
  }
  return reversed + resource.version + '.' + kind;
}

/// Returns whether the API server omits a member of a schema: Go does not encode empty members.
bool IsOmitted(const std::string& name, const json& value) {
  if (name == "default") return value.is_null();
  if (name == "additionalProperties") return false;
  if (name == "properties") return value.empty();
  return name == "example" || name == "externalDocs" || value.is_null() || value == false ||
         value == "" || value == json::array();
}

/// Adds the constraint that an int-or-string is one of the two, unless the schema has it.
void AddIntOrString(json& schema) {
  const json either = json::array({{{"type", "integer"}}, {{"type", "string"}}});
  if (!schema.contains("anyOf")) {
    const json& all_of = Field(schema, "allOf");
    if (all_of.is_array() && !all_of.empty() && Field(all_of[0], "anyOf") == either) return;
    schema["anyOf"] = either;
  } else if (schema["anyOf"] != either) {
    json all_of = json::array({{{"anyOf", either}}});
    for (const json& other : Field(schema, "allOf")) all_of.push_back(other);
    schema["allOf"] = std::move(all_of);
  }
}

void AddEmbeddedFields(json& schema) {
  json& fields = schema["properties"];
  fields["apiVersion"] = {{"type", "string"},
                          {"description",
                           "apiVersion defines the versioned schema of this representation of an "
                           "object. More info: " +
                               api_conventions + "#resources"}};
  fields["kind"] = {{"type", "string"},
                    {"description",
                     "kind is a string value representing the type of this object. In CamelCase. "
                     "More info: " +
                         api_conventions + "#types-kinds"}};
  fields["metadata"] = ObjectMetaField();
  json& required = schema["required"];
  if (required.is_null()) required = json::array();
  for (const char* name : {"kind", "apiVersion"}) {
    if (std::find(required.begin(), required.end(), name) == required.end()) {
      required.push_back(name);
    }
  }
}

/// Returns a schema of a CRD as the API server publishes it.
json PublishedSchema(const json& schema) {
  json published = json::object();
  for (const auto& [name, value] : schema.items()) {
    if (IsOmitted(name, value)) continue;
    if (name == "properties") {
      for (const auto& [field, of_field] : value.items()) {
        published[name][field] = PublishedSchema(of_field);
      }
    } else if ((name == "items" || name == "additionalProperties") && value.is_object()) {
      published[name] = PublishedSchema(value);
    } else {
      published[name] = value;
    }
  }
  if (published.contains("x-kubernetes-int-or-string")) AddIntOrString(published);
  if (published.contains("x-kubernetes-embedded-resource")) AddEmbeddedFields(published);
  return published;
}

void AddTypeMeta(json& schema) {
  // All built-in types describe these two fields alike.
  const json fields = json::parse(OpenApiTypes::BuiltIn().Find(kDeleteOptions))["properties"];
  for (const char* name : {"apiVersion", "kind"}) schema["properties"][name] = fields[name];
}

/// Adds the extensions of a kind or of the list of it.
void AddTypeExtensions(json& schema, const Resource& resource, const std::string& kind,
                       const json& version) {
  schema["x-kubernetes-group-version-kind"] =
      json::array({{{"group", resource.group}, {"kind", kind}, {"version", resource.version}}});
  for (const json& field : Field(version, "selectableFields")) {
    std::string path = StringField(field, "jsonPath");
    if (path.starts_with('.')) path.erase(0, 1);
    schema["x-kubernetes-selectable-fields"].push_back({{"fieldPath", std::move(path)}});
  }
}

json CustomListType(const Resource& resource) {
  return {{"type", "object"},
          {"description", resource.list_kind + " is a list of " + resource.kind},
          {"required", {"items"}},
          {"properties",
           {{"items",
             {{"type", "array"},
              {"items", ReferenceTo(OpenApiTypeName(resource, resource.kind))},
              {"description", "List of " + resource.plural + ". More info: " + api_conventions}}},
            {"metadata", DescribedReference(kListMeta, "Standard list metadata. More info: " +
                                                           api_conventions + "#types-kinds")}}}};
}

}  // namespace

json CustomResourceTypes(const Resource& resource, const json& crd) {
  json version;
  for (const json& candidate : Field(Field(crd, "spec"), "versions")) {
    if (StringField(candidate, "name") == resource.version) version = candidate;
  }
  json object = PublishedSchema(Field(Field(version, "schema"), "openAPIV3Schema"));
  json list = CustomListType(resource);
  object["properties"]["metadata"] = ObjectMetaField();
  AddTypeMeta(object);
  AddTypeMeta(list);
  AddTypeExtensions(object, resource, resource.kind, version);
  AddTypeExtensions(list, resource, resource.list_kind, version);
  return {{OpenApiTypeName(resource, resource.kind), std::move(object)},
          {OpenApiTypeName(resource, resource.list_kind), std::move(list)}};
}

std::vector<std::string_view> BuiltInTypesOfCustomResource(const Resource& resource) {
  std::vector<std::string_view> types{kObjectMeta, kListMeta, kDeleteOptions,
                                      "io.k8s.apimachinery.pkg.apis.meta.v1.Patch",
                                      "io.k8s.apimachinery.pkg.apis.meta.v1.Status"};
  if (resource.HasSubresource("scale")) types.emplace_back("io.k8s.api.autoscaling.v1.Scale");
  return types;
}

}  // namespace kopp::apiserver
