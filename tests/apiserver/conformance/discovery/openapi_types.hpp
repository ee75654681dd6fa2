#pragma once

#include "custom_resources.hpp"

#include <set>
#include <string>

namespace kopp::conformance {

inline const std::string meta_v1_prefix = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/// Fixture of tests of the types in the documents of /openapi/v3, which kubectl explain prints.
class OpenApiTypesTest : public CrdPerTest {
 protected:
  /// Returns the types in the document of a group version, such as "apis/apps/v1".
  static json Types(const std::string& group_version) {
    return Get("/openapi/v3/" + group_version).at("/components/schemas");
  }
  static json CoreType(const std::string& name) {
    return Types("api/v1")["io.k8s.api.core.v1." + name];
  }

  static json Reference(const std::string& type) {
    return {{"$ref", "#/components/schemas/" + type}};
  }
  /// Returns a field that refers to a type and has a description.
  static json ReferenceField(const std::string& type, const std::string& description) {
    return {{"allOf", json::array({Reference(type)})}, {"description", description}};
  }
  static json WithMembers(json schema, const json& members) {
    schema.update(members);
    return schema;
  }
  /// Collects the references in `value`, such as "#/components/schemas/io.k8s.api.core.v1.Pod".
  static void CollectReferences(const json& value, std::set<std::string>& references) {
    if (!value.is_structured()) return;
    if (value.is_object() && value.contains("$ref") && value["$ref"].is_string()) {
      references.insert(value["$ref"].get<std::string>());
    }
    for (const json& member : value) CollectReferences(member, references);
  }
};

}  // namespace kopp::conformance
