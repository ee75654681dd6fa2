#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/k8s/apiextensions/v1/custom_resource_definition.hpp>
#include <kopp/k8s/apps/v1/deployment.hpp>
#include <kopp/k8s/core/v1/persistent_volume_claim.hpp>
#include <kopp/k8s/core/v1/secret.hpp>
#include <kopp/k8s/core/v1/service.hpp>
#include <kopp/k8s/networking/v1/network_policy.hpp>
#include <kopp/k8s/policy/v1/pod_disruption_budget.hpp>

namespace kopp::k8s {
namespace {

using nlohmann::json;

template <typename T>
json ToJson(const T& object) {
  return json::parse(Encode(object));
}

template <typename Spec>
concept HasReplicas = requires { Spec{.replicas = 3}; };
template <typename Spec>
concept HasReplica = requires { Spec{.replica = 3}; };
static_assert(HasReplicas<apps::v1::DeploymentSpec>);
static_assert(!HasReplica<apps::v1::DeploymentSpec>, "a misspelt field must not compile");

TEST(TypedObjectsTest, ADeploymentIsEncodedWithTheFieldsThatAreSet) {
  const std::map<std::string, std::string> labels{{"app", "web"}};
  const apps::v1::Deployment deployment{
      .metadata = {.name = "web", .ns = "shop"},
      .spec = {
          .replicas = 3,
          .selector = {.matchLabels = labels},
          .template_ = {.metadata = {.labels = labels},
                        .spec = {.containers = {{.image = "nginx",
                                                 .name = "web",
                                                 .resources = {.limits = {{"cpu", "500m"},
                                                                          {"memory", "1Gi"}}}}},
                                 .volumes = {{.emptyDir = {{}}, .name = "tmp"}}}}}};

  EXPECT_EQ(ToJson(deployment), json::parse(R"({
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
      "replicas": 3,
      "selector": {"matchLabels": {"app": "web"}},
      "template": {
        "metadata": {"labels": {"app": "web"}},
        "spec": {
          "containers": [{
            "image": "nginx", "name": "web",
            "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}}
          }],
          "volumes": [{"emptyDir": {}, "name": "tmp"}]
        }
      }
    }
  })"));
}

TEST(TypedObjectsTest, ReplicasThatAreUnsetAndZeroDiffer) {
  apps::v1::Deployment deployment;
  EXPECT_FALSE(ToJson(deployment).at("spec").contains("replicas"));
  deployment.spec.replicas = 0;
  EXPECT_EQ(ToJson(deployment).at("spec").at("replicas"), 0);
}

TEST(TypedObjectsTest, ASelectorThatIsUnsetAndAnEmptyOneDiffer) {
  policy::v1::PodDisruptionBudget budget{.spec = {.minAvailable = 1}};
  EXPECT_FALSE(ToJson(budget).at("spec").contains("selector"));
  budget.spec.selector = meta::v1::LabelSelector{};
  EXPECT_EQ(ToJson(budget).at("spec").at("selector"), json::object());

  const networking::v1::NetworkPolicyPeer all_namespaces{.namespaceSelector = {{}}};
  EXPECT_EQ(Encode(all_namespaces), R"({"namespaceSelector":{}})");
}

TEST(TypedObjectsTest, AStorageClassThatIsUnsetAndAnEmptyOneDiffer) {
  core::v1::PersistentVolumeClaim claim{.spec = {.accessModes = {"ReadWriteOnce"}}};
  EXPECT_FALSE(ToJson(claim).at("spec").contains("storageClassName"));
  claim.spec.storageClassName = "";
  EXPECT_EQ(ToJson(claim).at("spec").at("storageClassName"), "");
}

TEST(TypedObjectsTest, APortByNameAndByNumberDiffer) {
  const core::v1::Service service{
      .spec = {.ports = {{.port = 80, .targetPort = "http"}, {.port = 81, .targetPort = 8081}}}};
  const json ports = ToJson(service).at("spec").at("ports");
  EXPECT_EQ(ports.at(0).at("targetPort"), "http");
  EXPECT_EQ(ports.at(1).at("targetPort"), 8081);
}

TEST(TypedObjectsTest, TheValuesOfASecretAreBase64InJson) {
  const core::v1::Secret secret{.data = {{"password", "s3cret"}}};
  EXPECT_EQ(ToJson(secret).at("data").at("password"), "czNjcmV0");
  EXPECT_EQ(Decode<core::v1::Secret>(Encode(secret)).data.at("password").data, "s3cret");
}

TEST(TypedObjectsTest, NamesThatCppReservesHaveAnUnderscore) {
  const core::v1::Toleration toleration{.operator_ = "Exists"};
  EXPECT_EQ(Encode(toleration), R"({"operator":"Exists"})");
}

TEST(TypedObjectsTest, ASchemaContainsSchemas) {
  using apiextensions::v1::JSONSchemaProps;
  using apiextensions::v1::JSONSchemaPropsOrArray;
  using apiextensions::v1::JSONSchemaPropsOrBool;
  JSONSchemaProps schema{.properties = {{"size", {.minimum = 0, .type = "integer"}}},
                         .type = "object",
                         .x_kubernetes_preserve_unknown_fields = true};
  schema.items = JSONSchemaPropsOrArray{.schema = {{.type = "string"}}, .schemas = {}};
  schema.additionalProperties = JSONSchemaPropsOrBool{.allows = false};
  schema.not_ = JSONSchemaProps{.type = "null"};
  const json expected = json::parse(R"({
    "additionalProperties": false,
    "items": {"type": "string"},
    "not": {"type": "null"},
    "properties": {"size": {"minimum": 0, "type": "integer"}},
    "type": "object",
    "x-kubernetes-preserve-unknown-fields": true
  })");
  EXPECT_EQ(ToJson(schema), expected);
  EXPECT_EQ(Decode<JSONSchemaProps>(expected.dump()), schema);
}

TEST(TypedObjectsTest, ItemsMayBeAListOfSchemas) {
  using apiextensions::v1::JSONSchemaProps;
  const std::string text = R"({"items":[{"type":"string"},{"type":"integer"}]})";
  const auto schema = Decode<JSONSchemaProps>(text);
  EXPECT_EQ(schema.items->schemas.at(1).type, "integer");
  EXPECT_EQ(Encode(schema), text);
}

TEST(TypedObjectsTest, AnErrorHasThePathOfTheField) {
  try {
    (void)Decode<apps::v1::Deployment>(
        R"({"spec":{"template":{"spec":{"containers":[{"ports":[{"containerPort":"x"}]}]}}}})");
    FAIL() << "no DecodeError";
  } catch (const DecodeError& error) {
    EXPECT_STREQ(error.what(),
                 "spec.template.spec.containers[0].ports[0].containerPort: expected an integer, "
                 "found a string");
  }
}

TEST(TypedObjectsTest, JsonConvertsToATypedObjectAndBack) {
  const json object{{"metadata", {{"name", "web"}}}, {"spec", {{"clusterIP", "None"}}}};
  const auto service = object.get<core::v1::Service>();
  EXPECT_EQ(service.spec.clusterIP, "None");
  EXPECT_EQ(json(service), object);
}

}  // namespace
}  // namespace kopp::k8s
