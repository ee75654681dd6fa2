// Tests of the types of built-in kinds in the documents of /openapi/v3.
#include "openapi_types.hpp"

#include <map>
#include <set>
#include <string>

namespace kopp::conformance {
namespace {

TEST_F(OpenApiTypesTest, EachBuiltInKindHasATypeWithItsDescription) {
  const json paths = Get("/openapi/v3").at("/paths");
  for (const auto& [path, entry] : paths.items()) {
    const json discovered = Get("/" + path).body;
    const bool is_custom = path.find("example") != std::string::npos;
    if (is_custom || !discovered.contains("resources")) continue;
    std::map<json, json> type_of_kind;
    const json types = Types(path);
    for (const json& type : types) {
      for (const json& kind : type.value("x-kubernetes-group-version-kind", json::array())) {
        type_of_kind.emplace(kind, type);
      }
    }
    const std::string version = discovered.at("groupVersion");
    const auto slash = version.find('/');
    json kind{{"group", slash == std::string::npos ? "" : version.substr(0, slash)},
              {"version", version.substr(slash + 1)}};
    for (const json& resource : discovered.at("resources")) {
      const std::string name = resource.at("name");
      if (name.find('/') != std::string::npos) continue;  // a subresource
      kind["kind"] = resource.at("kind");
      ASSERT_TRUE(type_of_kind.contains(kind)) << kind;
      EXPECT_NE(type_of_kind[kind].value("description", ""), "") << kind;
    }
  }
}

TEST_F(OpenApiTypesTest, EachReferenceInADocumentLeadsToAType) {
  for (const char* group_version : {"api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1"}) {
    const json document = Get(std::string("/openapi/v3/") + group_version).body;
    std::set<std::string> references;
    CollectReferences(document, references);

    EXPECT_GT(references.size(), 10U);
    for (const std::string& reference : references) {
      EXPECT_TRUE(document.contains(json::json_pointer(reference.substr(1)))) << reference;
    }
  }
}

TEST_F(OpenApiTypesTest, StructHasItsDescriptionsAndEnumValues) {
  const json strategy = Types("apis/apps/v1")["io.k8s.api.apps.v1.DeploymentStrategy"];

  EXPECT_EQ(
      strategy,
      json({{"type", "object"},
            {"description",
             "DeploymentStrategy describes how to replace existing pods with new ones."},
            {"properties",
             {{"rollingUpdate", ReferenceField("io.k8s.api.apps.v1.RollingUpdateDeployment",
                                               "Rolling update config params. Present only if "
                                               "DeploymentStrategyType = RollingUpdate.")},
              {"type",
               {{"type", "string"},
                {"enum", {"Recreate", "RollingUpdate"}},
                {"description",
                 "Type of deployment. Can be \"Recreate\" or \"RollingUpdate\". Default is "
                 "RollingUpdate.\n\nPossible enum values:\n - `\"Recreate\"` Kill all "
                 "existing pods before creating new ones.\n - `\"RollingUpdate\"` Replace "
                 "the old ReplicaSets by new one using rolling update i.e gradually scale "
                 "down the old ReplicaSets and scale up the new one."}}}}}}));
}

TEST_F(OpenApiTypesTest, FieldHasItsFormatDefaultAndRequirement) {
  json port = CoreType("ContainerPort");

  EXPECT_EQ(port["required"], json::array({"containerPort"}));
  EXPECT_EQ(port["properties"]["containerPort"],
            json({{"type", "integer"},
                  {"format", "int32"},
                  {"default", 0},
                  {"description",
                   "Number of port to expose on the pod's IP address. This must be a valid port "
                   "number, 0 < x < 65536."}}));
  EXPECT_EQ(port["properties"]["protocol"]["default"], "TCP");
  EXPECT_EQ(CoreType("PodSpec")["required"], json::array({"containers"}));
}

TEST_F(OpenApiTypesTest, MapHasTheTypeOfItsValues) {
  EXPECT_EQ(CoreType("ConfigMap")["properties"]["binaryData"]["additionalProperties"],
            json({{"type", "string"}, {"format", "byte"}}));
  EXPECT_EQ(CoreType("ConfigMap")["properties"]["data"]["additionalProperties"],
            json({{"type", "string"}, {"default", ""}}));
  EXPECT_EQ(CoreType("ResourceRequirements")["properties"]["limits"]["additionalProperties"],
            Reference("io.k8s.apimachinery.pkg.api.resource.Quantity"));
}

TEST_F(OpenApiTypesTest, ListHasTheKeysThatPatchesUse) {
  const json containers{
      {"type", "array"},
      {"items",
       {{"allOf", json::array({Reference("io.k8s.api.core.v1.Container")})},
        {"default", json::object()}}},
      {"description",
       "List of containers belonging to the pod. Containers cannot currently be added or removed. "
       "There must be at least one container in a Pod. Cannot be updated."},
      {"x-kubernetes-list-type", "map"},
      {"x-kubernetes-list-map-keys", {"name"}},
      {"x-kubernetes-patch-merge-key", "name"},
      {"x-kubernetes-patch-strategy", "merge"}};

  EXPECT_EQ(CoreType("PodSpec")["properties"]["containers"], containers);
  EXPECT_EQ(CoreType("ServiceSpec")["properties"]["ports"]["x-kubernetes-list-map-keys"],
            json({"port", "protocol"}));
}

TEST_F(OpenApiTypesTest, AtomicStructsAndMapsAreMarked) {
  EXPECT_EQ(CoreType("PodSpec")["properties"]["nodeSelector"]["x-kubernetes-map-type"], "atomic");
  EXPECT_EQ(Types("apis/apps/v1")[meta_v1_prefix + "LabelSelector"]["x-kubernetes-map-type"],
            "atomic");
}

TEST_F(OpenApiTypesTest, ValueTypesHaveAFormatOrAlternatives) {
  const json types = Types("apis/apps/v1");
  const auto without_description = [&](const std::string& name) {
    json type = types.at(name);
    type.erase("description");
    return type;
  };

  EXPECT_EQ(without_description("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
            json({{"format", "int-or-string"},
                  {"oneOf", {{{"type", "integer"}}, {{"type", "string"}}}}}));
  EXPECT_EQ(without_description("io.k8s.apimachinery.pkg.api.resource.Quantity"),
            json({{"oneOf", {{{"type", "string"}}, {{"type", "number"}}}}}));
  EXPECT_EQ(without_description(meta_v1_prefix + "Time"),
            json({{"type", "string"}, {"format", "date-time"}}));
  EXPECT_EQ(without_description(meta_v1_prefix + "FieldsV1"), json({{"type", "object"}}));
}

TEST_F(OpenApiTypesTest, DocumentContainsListsAndOptionsOfItsKinds) {
  const json types = Types("api/v1");

  for (const std::string& name :
       {std::string("io.k8s.api.core.v1.PodList"), std::string("io.k8s.api.autoscaling.v1.Scale"),
        meta_v1_prefix + "DeleteOptions", meta_v1_prefix + "Status", meta_v1_prefix + "Patch",
        meta_v1_prefix + "WatchEvent"}) {
    EXPECT_TRUE(types.contains(name)) << name;
  }
  EXPECT_FALSE(types.contains("io.k8s.api.apps.v1.Deployment"));
}

}  // namespace
}  // namespace kopp::conformance
