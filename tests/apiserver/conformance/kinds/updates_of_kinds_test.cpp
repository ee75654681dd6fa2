// Rules for updates and deletions of kinds.
#include "kinds/kinds.hpp"

namespace kopp::conformance {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string webhooks =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const std::string storage_classes = "/apis/storage.k8s.io/v1/storageclasses";
const std::string priority_classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
const std::string runtime_classes = "/apis/node.k8s.io/v1/runtimeclasses";
const std::string api_services = "/apis/apiregistration.k8s.io/v1/apiservices";

class UpdateOfKindTest : public KindTest {
 protected:
  static json WebhookConfiguration() {
    return R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"url": "https://a"},
               "sideEffects": "None", "admissionReviewVersions": ["v1"]}]})"_json;
  }
  static JsonResponse StrategicMergePatch(const std::string& path, const json& patch) {
    return Call({.method = "PATCH",
                 .target = path,
                 .body = patch.dump(),
                 .content_type = "application/strategic-merge-patch+json"});
  }
  static int GenerationOf(const JsonResponse& response) {
    return response.at("/metadata/generation").get<int>();
  }
};

TEST_F(UpdateOfKindTest, TheNodeAffinityOfAVolumeMayOnlyGetStableLabels) {
  Create("/api/v1/persistentvolumes", R"({"spec": {
      "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1"}, "hostPath": {"path": "/"},
      "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
          {"key": "failure-domain.beta.kubernetes.io/zone", "operator": "Exists"},
          {"key": "a", "operator": "Exists"}]}]}}}})"_json);
  const auto patch_keys = [&](const std::string& first, const std::string& second) {
    const json::json_pointer terms("/spec/nodeAffinity/required/nodeSelectorTerms");
    json patch;
    patch[terms] = {
        {{"matchExpressions",
          {{{"key", first}, {"operator", "Exists"}}, {{"key", second}, {"operator", "Exists"}}}}}};
    return MergePatch(path(), patch);
  };
  constexpr const char* kImmutable =
      "field is immutable, except for updating from beta label to GA";

  EXPECT_THAT(patch_keys("topology.kubernetes.io/region", "a").message(), HasSubstr(kImmutable));
  EXPECT_THAT(patch_keys("topology.kubernetes.io/zone", "b").message(), HasSubstr(kImmutable));
  // Labels without a stable name may be renamed to "", which is not valid.
  EXPECT_THAT(patch_keys("topology.kubernetes.io/zone", "").message(),
              AllOf(HasSubstr("name part must be non-empty"), Not(HasSubstr(kImmutable))));
  EXPECT_EQ(patch_keys("topology.kubernetes.io/zone", "a").status, 200);
}

TEST_F(UpdateOfKindTest, AnUpdateOfAPriorityClassHasOnlyErrorsOfItsChange) {
  Create(priority_classes, {{"value", 5}});

  EXPECT_THAT(
      Causes(MergePatch(path(), {{"value", 2'147'483'647}})),
      ElementsAre("FieldValueForbidden value: Forbidden: may not be changed in an update."));
}

TEST_F(UpdateOfKindTest, AStrategicMergePatchMergesWebhooksByName) {
  Create(webhooks, WebhookConfiguration());

  const JsonResponse patched = StrategicMergePatch(
      path(), R"({"webhooks": [{"name": "a.example.com", "timeoutSeconds": 5}]})"_json);

  EXPECT_EQ(patched.at("/webhooks/0/timeoutSeconds"), 5);
  EXPECT_EQ(patched.at("/webhooks/0/clientConfig/url"), "https://a");
}

TEST_F(UpdateOfKindTest, TheGenerationOfAWebhookConfigurationCountsChangesOfWebhooks) {
  EXPECT_EQ(GenerationOf(Create(webhooks, WebhookConfiguration())), 1);
  EXPECT_EQ(GenerationOf(MergePatch(path(), R"({"metadata": {"labels": {"a": "b"}}})"_json)), 1);
  EXPECT_EQ(GenerationOf(MergePatch(path(), R"({"webhooks": null})"_json)), 2);
}

TEST_F(UpdateOfKindTest, AWebhookConfigurationIsNotUpdatedWithoutAResourceVersion) {
  json object = Create(webhooks, WebhookConfiguration()).body;
  object["metadata"].erase("resourceVersion");

  const JsonResponse response = Put(path(), object);

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(response.message(), HasSubstr("metadata.resourceVersion: Invalid value: 0"));
}

TEST_F(UpdateOfKindTest, TheGenerationOfAnEndpointSliceCountsChangesOfLabels) {
  const std::string slices = CollectionPath("discovery.k8s.io/v1", "endpointslices");
  EXPECT_EQ(GenerationOf(Create(slices, R"({"addressType": "IPv4"})"_json)), 1);
  EXPECT_EQ(GenerationOf(MergePatch(path(), R"({"metadata": {"labels": {"a": "b"}}})"_json)), 2);
}

TEST_F(UpdateOfKindTest, FormerTopologyOfAnEndpointSliceIsDropped) {
  const std::string slices = CollectionPath("discovery.k8s.io/v1", "endpointslices");
  const JsonResponse created = Create(slices, R"({"addressType": "IPv4", "endpoints": [
      {"addresses": ["10.1.2.3"], "deprecatedTopology": {"a": "b"}}]})"_json);

  EXPECT_EQ(created.at("/endpoints/0/deprecatedTopology"), nullptr);
}

TEST_F(UpdateOfKindTest, TheStatusOfAnAutoscalerIsUpdatedAndPrinted) {
  const std::string autoscalers = CollectionPath("autoscaling/v2", "horizontalpodautoscalers");
  Create(autoscalers, R"({"spec": {"maxReplicas": 3, "scaleTargetRef": {
      "apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}})"_json);

  const JsonResponse updated = MergePatch(path() + "/status", R"({
      "metadata": {"labels": {"a": "b"}},
      "status": {"currentReplicas": 1, "desiredReplicas": 2, "currentMetrics": [{
        "type": "Resource", "resource": {"name": "cpu", "current": {
          "averageUtilization": 30, "averageValue": "300m"}}}]}})"_json);

  ASSERT_EQ(updated.status, 200) << updated.text;
  EXPECT_EQ(updated.str("/metadata/labels/a"), "b");
  const JsonResponse table =
      Call({.target = path(), .accept = "application/json;as=Table;v=v1;g=meta.k8s.io"});
  EXPECT_EQ(table.at("/rows/0/cells/2"), "cpu: 30%/80%");
  EXPECT_EQ(table.at("/rows/0/cells/5"), 1);
}

TEST_F(UpdateOfKindTest, TheStatusOfAVolumeAttachmentIsUpdatedWithoutItsMetadata) {
  Create("/apis/storage.k8s.io/v1/volumeattachments",
         R"({"spec": {"attacher": "a.b", "nodeName": "n",
                      "source": {"persistentVolumeName": "p"}}})"_json);

  const JsonResponse updated =
      MergePatch(path() + "/status",
                 R"({"metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}},
          "status": {"attached": true}})"_json);

  EXPECT_EQ(updated.at("/status/attached"), true);
  EXPECT_EQ(updated.at("/metadata/labels"), nullptr);
  EXPECT_EQ(updated.at("/metadata/annotations"), nullptr);
}

TEST_F(UpdateOfKindTest, DeletingAStorageClassReturnsIt) {
  Create(storage_classes, R"({"provisioner": "p"})"_json);

  const JsonResponse deleted = Delete(path());

  EXPECT_EQ(deleted.str("/kind"), "StorageClass");
  EXPECT_EQ(deleted.at("/metadata/deletionTimestamp"), nullptr);
}

TEST_F(UpdateOfKindTest, TheGenerationOfAPriorityClassStaysOne) {
  EXPECT_EQ(GenerationOf(Create(priority_classes, R"({"value": 1})"_json)), 1);
  EXPECT_EQ(GenerationOf(MergePatch(path(), R"({"description": "d"})"_json)), 1);
}

TEST_F(UpdateOfKindTest, NamesOfSystemPrioritiesAreReserved) {
  const JsonResponse response =
      Create(priority_classes, R"({"metadata": {"name": "system-a"}, "value": 1})"_json);

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response),
              ::testing::ElementsAre(
                  "FieldValueForbidden metadata.name: Forbidden: priority class names with "
                  "'system-' prefix are reserved for system use only. error: system-a is not a "
                  "known system priority class"));
}

TEST_F(UpdateOfKindTest, PutCreatesARuntimeClass) {
  const std::string name = UniqueName("runtime");
  const json object{{"metadata", {{"name", name}}}, {"handler", "h"}};

  EXPECT_EQ(Put(runtime_classes + '/' + name, object).status, 201);
  Delete(runtime_classes + '/' + name);
}

TEST_F(UpdateOfKindTest, AVolumeAttributesClassHasAFinalizerAndFixedParameters) {
  const JsonResponse created = Create("/apis/storage.k8s.io/v1/volumeattributesclasses",
                                      R"({"driverName": "a.b", "parameters": {"a": "b"}})"_json);
  EXPECT_EQ(created.at("/metadata/finalizers"), R"(["kubernetes.io/vac-protection"])"_json);

  const JsonResponse response = MergePatch(path(), R"({"parameters": {"a": "c"}})"_json);
  EXPECT_EQ(Causes(response),
            std::vector<std::string>{("FieldValueForbidden parameters: Forbidden: updates to "
                                      "parameters are forbidden.")});
}

TEST_F(UpdateOfKindTest, AnApiServiceWithoutAServiceIsAvailable) {
  const std::string group = UniqueName("g") + ".example.com";
  const JsonResponse created = Create(api_services, {{"metadata", {{"name", "v1." + group}}},
                                                     {"spec",
                                                      {{"group", group},
                                                       {"version", "v1"},
                                                       {"groupPriorityMinimum", 100},
                                                       {"versionPriority", 10}}}});

  ASSERT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.str("/status/conditions/0/type"), "Available");
  EXPECT_EQ(created.str("/status/conditions/0/reason"), "Local");
}

}  // namespace
}  // namespace kopp::conformance
