#include "conformance.hpp"
#include "managed_fields.hpp"

#include <string>
#include <utility>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Fixture of tests of strategic merge patches of one Deployment. It has the containers "web" and
/// "sidecar".
class StrategicMergePatchTest : public ConformanceTest {
 protected:
  void SetUp() override {
    object_path_ = Path("apps/v1", "deployments") + "/a";
    json deployment = MakeDeployment("a");
    deployment["metadata"]["finalizers"] = {"example.com/a", "example.com/b"};
    deployment["spec"]["template"]["spec"] = {
        {"containers",
         {{{"name", "web"}, {"image", "web:1"}},
          {{"name", "sidecar"},
           {"image", "sidecar:1"},
           {"env", {{{"name", "A"}, {"value", "1"}}, {{"name", "B"}, {"value", "2"}}}}}}},
        {"tolerations", {{{"key", "x"}, {"operator", "Exists"}}}}};
    created_ = Post(Path("apps/v1", "deployments"), deployment);
    ASSERT_EQ(created_.status, 201) << created_.text;
  }
  void TearDown() override {
    MergePatch(object_path_, {{"metadata", {{"finalizers", nullptr}}}});
    Delete(object_path_);
  }

  /// Sends the text of a patch unchanged.
  JsonResponse SendText(const std::string& patch, const std::string& query = "",
                        const std::string& subresource = "") {
    return Call({.method = "PATCH",
                 .target = object_path_ + subresource + query,
                 .body = patch,
                 .content_type = "application/strategic-merge-patch+json"});
  }
  JsonResponse Send(const json& patch, const std::string& query = "",
                    const std::string& subresource = "") {
    return SendText(patch.dump(), query, subresource);
  }
  /// Sends a patch of the Pod template's spec.
  JsonResponse SendPodSpec(const json& pod_spec) {
    return Send({{"spec", {{"template", {{"spec", pod_spec}}}}}});
  }
  JsonResponse SendContainers(const json& containers) {
    return SendPodSpec({{"containers", containers}});
  }

  static std::vector<std::string> Names(const json& list) {
    std::vector<std::string> names;
    for (const json& item : list) names.push_back(item.value("name", ""));
    return names;
  }
  static std::vector<std::string> ContainerNames(const JsonResponse& response) {
    return Names(response.at("/spec/template/spec/containers"));
  }
  /// Expects that the server cannot process a patch, for the reason `message`.
  static void ExpectFailure(const JsonResponse& response, const std::string& message) {
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.message(), message);
    EXPECT_EQ(response.reason(), "");
  }
  static void ExpectBadRequest(const JsonResponse& response, const std::string& message) {
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(response.message(), message);
    EXPECT_EQ(response.reason(), "BadRequest");
  }
  /// Expects that the result cannot be decoded. `patch` is the patch as Go prints it.
  static void ExpectUndecodable(const JsonResponse& response, const std::string& patch,
                                const std::string& reason) {
    EXPECT_EQ(response.status, 422);
    EXPECT_THAT(Causes(response), ElementsAre("FieldValueInvalid patch: Invalid value: \"" + patch +
                                              "\": " + reason));
    EXPECT_FALSE(response.at("/details").contains("kind")) << response.text;
  }

  std::string object_path_;
  JsonResponse created_{};
};

TEST_F(StrategicMergePatchTest, AnItemWithAKnownMergeKeyIsMergedAndOthersAreKept) {
  const JsonResponse patched = SendContainers(
      {{{"name", "sidecar"}, {"image", "sidecar:2"}, {"env", {{{"name", "B"}, {"value", "3"}}}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_THAT(ContainerNames(patched), ElementsAre("web", "sidecar"));
  EXPECT_EQ(patched.str("/spec/template/spec/containers/1/image"), "sidecar:2");
  EXPECT_EQ(patched.at("/spec/template/spec/containers/1/env"),
            json({{{"name", "A"}, {"value", "1"}}, {{"name", "B"}, {"value", "3"}}}));
  EXPECT_EQ(patched.at("/metadata/generation"), 2);
  EXPECT_EQ(Get(object_path_).body, patched.body);
}

TEST_F(StrategicMergePatchTest, AnItemWithANewMergeKeyIsAddedBeforeTheOthers) {
  const JsonResponse patched = SendContainers({{{"name", "new"}, {"image", "new:1"}}});

  EXPECT_THAT(ContainerNames(patched), ElementsAre("new", "web", "sidecar"));
  EXPECT_EQ(patched.str("/spec/template/spec/containers/0/imagePullPolicy"), "IfNotPresent");
}

TEST_F(StrategicMergePatchTest, AListWithoutTheMergeStrategyIsReplaced) {
  const JsonResponse patched =
      SendPodSpec({{"tolerations", {{{"key", "y"}, {"operator", "Exists"}}}}});

  EXPECT_EQ(patched.at("/spec/template/spec/tolerations"),
            json({{{"key", "y"}, {"operator", "Exists"}}}));
}

TEST_F(StrategicMergePatchTest, AListOfScalarsWithTheMergeStrategyIsMerged) {
  const JsonResponse patched =
      Send({{"metadata", {{"finalizers", {"example.com/c", "example.com/a"}}}}});

  EXPECT_EQ(patched.at("/metadata/finalizers"),
            json({"example.com/c", "example.com/a", "example.com/b"}));
}

TEST_F(StrategicMergePatchTest, NullRemovesAFieldAndIgnoresAMissingOne) {
  const JsonResponse patched =
      Send({{"metadata", {{"finalizers", nullptr}, {"annotations", nullptr}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/metadata/finalizers"), json());
}

TEST_F(StrategicMergePatchTest, NullsInANewObjectAreIgnored) {
  const JsonResponse patched =
      Send({{"metadata", {{"annotations", {{"a", "1"}, {"b", nullptr}}}}}});

  EXPECT_EQ(patched.at("/metadata/annotations"), json({{"a", "1"}}));
  EXPECT_THAT(patched.warnings, IsEmpty());
}

TEST_F(StrategicMergePatchTest, PatchWithoutChangesKeepsTheResourceVersion) {
  EXPECT_EQ(SendContainers({{{"name", "web"}, {"image", "web:1"}}}).body, created_.body);
  EXPECT_EQ(Send(json::object()).body, created_.body);
  EXPECT_EQ(SendText("null").body, created_.body);
}

TEST_F(StrategicMergePatchTest, TheDeleteDirectiveRemovesAnItem) {
  const JsonResponse patched = SendContainers({{{"name", "sidecar"}, {"$patch", "delete"}}});

  EXPECT_THAT(ContainerNames(patched), ElementsAre("web"));
}

TEST_F(StrategicMergePatchTest, TheDeleteDirectiveIgnoresAMissingItem) {
  EXPECT_EQ(SendContainers({{{"name", "none"}, {"$patch", "delete"}}}).body, created_.body);
}

TEST_F(StrategicMergePatchTest, TheDeleteDirectiveEmptiesAnObject) {
  Send({{"metadata", {{"labels", {{"a", "1"}}}}}});

  const JsonResponse patched = Send({{"metadata", {{"labels", {{"$patch", "delete"}}}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/metadata/labels"), json());
}

TEST_F(StrategicMergePatchTest, TheReplaceDirectiveReplacesAList) {
  const JsonResponse patched =
      SendContainers({{{"$patch", "replace"}}, {{"name", "new"}, {"image", "new:1"}}});

  EXPECT_THAT(ContainerNames(patched), ElementsAre("new"));
}

TEST_F(StrategicMergePatchTest, TheReplaceDirectiveReplacesAnObject) {
  const JsonResponse patched =
      SendPodSpec({{"$patch", "replace"}, {"containers", {{{"name", "new"}, {"image", "new:1"}}}}});

  EXPECT_THAT(ContainerNames(patched), ElementsAre("new"));
  EXPECT_EQ(patched.at("/spec/template/spec/tolerations"), json());
}

TEST_F(StrategicMergePatchTest, RetainKeysClearsTheOtherFieldsOfAnObject) {
  const JsonResponse patched =
      Send({{"spec", {{"strategy", {{"$retainKeys", {"type"}}, {"type", "Recreate"}}}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/spec/strategy"), json({{"type", "Recreate"}}));
}

TEST_F(StrategicMergePatchTest, RetainKeysMustContainTheFieldsOfThePatch) {
  const std::string error = "invalid patch format of retainKeys";

  ExpectBadRequest(
      Send({{"spec",
             {{"strategy", {{"$retainKeys", {"type"}}, {"rollingUpdate", {{"maxSurge", 1}}}}}}}}),
      error);
  ExpectBadRequest(Send({{"spec", {{"strategy", {{"$retainKeys", "type"}}}}}}), error);
}

TEST_F(StrategicMergePatchTest, SetElementOrderSortsAList) {
  const JsonResponse patched =
      SendPodSpec({{"$setElementOrder/containers",
                    {{{"name", "sidecar"}}, {{"name", "new"}}, {{"name", "web"}}}},
                   {"containers", {{{"name", "new"}, {"image", "new:1"}}}}});

  EXPECT_THAT(ContainerNames(patched), ElementsAre("sidecar", "new", "web"));
}

TEST_F(StrategicMergePatchTest, SetElementOrderWithoutChangesSortsAList) {
  const JsonResponse patched =
      SendPodSpec({{"$setElementOrder/containers", {{{"name", "sidecar"}}, {{"name", "web"}}}}});

  EXPECT_THAT(ContainerNames(patched), ElementsAre("sidecar", "web"));
}

TEST_F(StrategicMergePatchTest, ItemsThatAreOnlyOnTheServerKeepTheirPlaceInTheOrder) {
  const JsonResponse patched =
      Send({{"metadata",
             {{"$setElementOrder/finalizers", {"example.com/b", "example.com/c"}},
              {"finalizers", {"example.com/c"}}}}});

  EXPECT_EQ(patched.at("/metadata/finalizers"),
            json({"example.com/a", "example.com/b", "example.com/c"}));
}

TEST_F(StrategicMergePatchTest, SetElementOrderAddsAListThatDidNotExist) {
  const JsonResponse patched = SendContainers(
      {{{"name", "web"},
        {"$setElementOrder/env", {{{"name", "Y"}}, {{"name", "X"}}}},
        {"env", {{{"name", "Y"}, {"value", "1"}}, {{"name", "X"}, {"value", "2"}}}}}});

  EXPECT_THAT(Names(patched.at("/spec/template/spec/containers/0/env")), ElementsAre("Y", "X"));
}

TEST_F(StrategicMergePatchTest, AnEmptySetElementOrderReversesNewItems) {
  const JsonResponse patched = SendPodSpec({{"$setElementOrder/containers", json::array()},
                                            {"containers",
                                             {{{"name", "x"}, {"image", "x"}},
                                              {{"name", "y"}, {"image", "y"}},
                                              {{"name", "z"}, {"image", "z"}}}}});

  EXPECT_THAT(ContainerNames(patched), ElementsAre("web", "sidecar", "z", "y", "x"));
}

TEST_F(StrategicMergePatchTest, SetElementOrderMustMatchTheOrderOfThePatch) {
  ExpectFailure(SendPodSpec({{"$setElementOrder/containers", {{{"name", "web"}}}},
                             {"containers", {{{"name", "sidecar"}, {"image", "x"}}}}}),
                "The order in patch list:\n[map[image:x name:sidecar]]\n doesn't match "
                "$setElementOrder list:\n[map[name:web]]\n");
}

TEST_F(StrategicMergePatchTest, DirectivesOfItemsNeedNoPlaceInSetElementOrder) {
  const json order{{{"name", "web"}}};

  EXPECT_EQ(SendPodSpec({{"$setElementOrder/containers", order},
                         {"containers",
                          {{{"name", "web"}, {"image", "web:2"}},
                           {{"name", "sidecar"}, {"$patch", "delete"}}}}})
                .status,
            200);
  ExpectFailure(
      SendPodSpec({{"$setElementOrder/containers", order},
                   {"containers", {{{"name", "web"}, {"image", "x"}}, {{"$patch", "replace"}}}}}),
      "The order in patch list:\n[map[image:x name:web] map[$patch:replace]]\n doesn't "
      "match $setElementOrder list:\n[map[name:web]]\n");
}

TEST_F(StrategicMergePatchTest, SetElementOrderOfAnUnknownFieldOrNoListIsAnError) {
  ExpectFailure(SendPodSpec({{"$setElementOrder/none", {{{"name", "web"}}}}}),
                "unable to find api field in struct PodSpec for the json field \"none\"");
  ExpectFailure(SendPodSpec({{"$setElementOrder/containers", "web"}}),
                "expected a []interface {}, but received a string");
  ExpectFailure(Send({{"spec", {{"$setElementOrder/template", json::array()}}}}),
                "expected a []interface {}, but received a map[string]interface {}");
  ExpectBadRequest(SendPodSpec({{"$setElementOrdercontainers", json::array()}}),
                   "invalid patch format of setElementOrder list");
}

TEST_F(StrategicMergePatchTest, DeleteFromPrimitiveListRemovesScalars) {
  const JsonResponse patched =
      Send({{"metadata",
             {{"$deleteFromPrimitiveList/finalizers", {"example.com/a", "example.com/none"}}}}});

  EXPECT_EQ(patched.at("/metadata/finalizers"), json({"example.com/b"}));
  ExpectBadRequest(Send({{"metadata", {{"$deleteFromPrimitiveListfinalizers", json::array()}}}}),
                   "invalid patch format of primitive list");
}

TEST_F(StrategicMergePatchTest, AnItemWithoutItsMergeKeyIsAnError) {
  ExpectFailure(SendContainers(json::array({json::object()})),
                "map: map[] does not contain declared merge key: name");
  ExpectFailure(SendContainers({{{"image", "x"}, {"tty", nullptr}, {"args", {"a", "b"}}}}),
                "map: map[args:[a b] image:x tty:<nil>] does not contain declared merge key: name");
  ExpectFailure(SendContainers({{{"$patch", "replace"}}, {{"image", "x"}}}),
                "map: map[image:x] does not contain declared merge key: name");
  ExpectFailure(SendContainers({{{"$patch", "delete"}}}),
                "map: map[$patch:delete] does not contain declared merge key: name");
  ExpectFailure(SendPodSpec({{"$setElementOrder/containers", {{{"image", "x"}}}}}),
                "map: map[image:x] does not contain declared merge key: name");
}

TEST_F(StrategicMergePatchTest, AnInvalidDirectiveIsAnError) {
  ExpectFailure(SendPodSpec({{"$patch", "merge"}, {"a", {1, 1.5, true}}}),
                "unknown patch type: merge in map: map[$patch:merge a:[1 1.5 true]]");
  ExpectFailure(SendPodSpec({{"$patch", 1}}),
                "unknown patch type: %!s(int64=1) in map: map[$patch:1]");
  ExpectFailure(SendContainers({{{"name", "web"}, {"$patch", "x"}}}),
                "unknown patch type: x in map: map[$patch:x name:web]");
  ExpectFailure(SendContainers({{{"name", "web"}, {"$patch", "merge"}}}),
                "merging lists cannot yet be specified in the patch");
}

TEST_F(StrategicMergePatchTest, ItemsOfDifferentTypesAreAnError) {
  ExpectFailure(Send({{"metadata", {{"finalizers", {1}}}}}),
                "list element types are not identical: [[example.com/a example.com/b] [1]]");
}

TEST_F(StrategicMergePatchTest, SetElementOrderInAMapIsAnError) {
  const json labels{{"$setElementOrder/x", json::array()}};

  ExpectFailure(Send({{"spec", {{"template", {{"metadata", {{"labels", labels}}}}}}}}),
                "merging an object in json but data type is not struct, instead is: map");
}

TEST_F(StrategicMergePatchTest, ValuesOfWrongTypesAreRejected) {
  const auto replicas = [&](const json& value) { return Send({{"spec", {{"replicas", value}}}}); };

  ExpectUndecodable(replicas("x"), "map[spec:map[replicas:x]]", "unrecognized type: int32");
  ExpectUndecodable(replicas(1.5), "map[spec:map[replicas:1.5]]",
                    "cannot convert float64 to int32");
  ExpectUndecodable(Send({{"spec", "x"}}), "map[spec:x]", "cannot restore struct from: string");
  ExpectUndecodable(SendPodSpec({{"containers", "x"}}),
                    "map[spec:map[template:map[spec:map[containers:x]]]]",
                    "cannot restore slice from string");
  ExpectUndecodable(SendPodSpec({{"hostNetwork", "x"}}),
                    "map[spec:map[template:map[spec:map[hostNetwork:x]]]]",
                    "unrecognized type: bool");
  ExpectUndecodable(Send({{"metadata", {{"labels", "x"}}}}), "map[metadata:map[labels:x]]",
                    "cannot restore map from string");
  ExpectUndecodable(Send({{"metadata", {{"labels", {{"a", 1}}}}}}),
                    "map[metadata:map[labels:map[a:1]]]", "cannot convert int64 to string");
  ExpectUndecodable(Send({{"kind", true}}), "map[kind:true]", "unrecognized type: string");
}

TEST_F(StrategicMergePatchTest, AnIntegerThatDoesNotFitWrapsAround) {
  EXPECT_EQ(Send({{"spec", {{"replicas", 4294967299}}}}).at("/spec/replicas"), 3);
  EXPECT_EQ(Send({{"spec", {{"replicas", 2.0}}}}).at("/spec/replicas"), 2);
  const JsonResponse zero = Send({{"spec", {{"minReadySeconds", 1e300}}}});
  EXPECT_EQ(zero.status, 200) << zero.text;
  EXPECT_FALSE(zero.at("/spec").contains("minReadySeconds"));
  EXPECT_EQ(Send({{"spec", {{"replicas", -1e19}}}}).at("/spec/replicas"), 0);
}

TEST_F(StrategicMergePatchTest, AWholeNumberIsAnIntOrString) {
  const JsonResponse patched =
      Send({{"spec", {{"strategy", {{"rollingUpdate", {{"maxSurge", 2.0}}}}}}}});

  EXPECT_EQ(patched.at("/spec/strategy/rollingUpdate/maxSurge"), 2);
}

TEST_F(StrategicMergePatchTest, BytesThatAreNotBase64AreRejected) {
  Post(Path("secrets"), {{"metadata", {{"name", "a"}}}});

  const JsonResponse response = Call({.method = "PATCH",
                                      .target = Path("secrets") + "/a",
                                      .body = R"({"data": {"k": "x"}})",
                                      .content_type = "application/strategic-merge-patch+json"});

  ExpectUndecodable(response, "map[data:map[k:x]]",
                    "error decoding from json: illegal base64 data at input byte 0");
}

TEST_F(StrategicMergePatchTest, KindAndApiVersionAreIgnored) {
  const JsonResponse patched = Send({{"kind", "Other"}, {"apiVersion", "example.com/v1"}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.body, created_.body);
}

TEST_F(StrategicMergePatchTest, UnknownAndDuplicateFieldsReturnWarnings) {
  const JsonResponse patched =
      SendText(R"({"zzz": 1, "spec": {"replicas": 1, "replicas": 2, "yyy": 2}})");

  EXPECT_EQ(patched.at("/spec/replicas"), 2);
  EXPECT_THAT(patched.warnings, ElementsAre("duplicate field \"spec.replicas\"",
                                            "unknown field \"spec.yyy\"", "unknown field \"zzz\""));
}

TEST_F(StrategicMergePatchTest, DirectivesInANewItemAreUnknownFields) {
  const JsonResponse patched = SendContainers(
      {{{"name", "new"}, {"image", "new:1"}, {"$setElementOrder/env", json::array()}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_THAT(
      patched.warnings,
      ElementsAre("unknown field \"spec.template.spec.containers[0].$setElementOrder/env\""));
}

TEST_F(StrategicMergePatchTest, StrictFieldValidationRejectsUnknownAndDuplicateFields) {
  ExpectUndecodable(
      SendText(R"({"zzz": 1, "spec": {"replicas": 1, "replicas": 2}})", "?fieldValidation=Strict"),
      "map[spec:map[replicas:2] zzz:1]",
      "strict decoding error: duplicate field \"spec.replicas\", unknown field \"zzz\"");
}

TEST_F(StrategicMergePatchTest, IgnoreFieldValidationPrunesUnknownFieldsWithoutWarnings) {
  const JsonResponse patched = Send({{"zzz", 1}}, "?fieldValidation=Ignore");

  EXPECT_EQ(patched.status, 200);
  EXPECT_THAT(patched.warnings, IsEmpty());
}

TEST_F(StrategicMergePatchTest, ABodyThatIsNoJsonObjectIsABadRequest) {
  ExpectBadRequest(SendText("{"), "unexpected end of JSON input");
  ExpectBadRequest(SendText("a: b"), "invalid character 'a' looking for beginning of value");
  ExpectBadRequest(SendText("[]"),
                   "json: cannot unmarshal array into Go value of type map[string]interface {}");
}

TEST_F(StrategicMergePatchTest, StaleResourceVersionIsAConflict) {
  Send({{"spec", {{"replicas", 2}}}});

  const JsonResponse stale =
      Send({{"metadata", {{"resourceVersion", created_.resource_version()}}}});

  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(stale.message(),
            "Operation cannot be fulfilled on deployments.apps \"a\": the object has been "
            "modified; please apply your changes to the latest version and try again");
}

TEST_F(StrategicMergePatchTest, RemovingOrChangingTheNameIsABadRequest) {
  ExpectBadRequest(Send({{"$patch", "delete"}}),
                   "the name of the object (a based on URL) was undeterminable: name must be "
                   "provided");
  ExpectBadRequest(Send({{"metadata", {{"name", "b"}}}}),
                   "the name of the object (b) does not match the name on the URL (a)");
}

TEST_F(StrategicMergePatchTest, InvalidResultIsRejectedWithItsCauses) {
  const JsonResponse response = Send({{"spec", {{"replicas", -1}}}});

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueInvalid spec.replicas: Invalid value: -1: must be greater "
                          "than or equal to 0"));
}

TEST_F(StrategicMergePatchTest, PatchOfAMissingObjectReturnsNotFound) {
  object_path_ = Path("apps/v1", "deployments") + "/none";

  EXPECT_EQ(Send(json::object()).message(), "deployments.apps \"none\" not found");
  EXPECT_EQ(SendText("{").status, 404);
}

TEST_F(StrategicMergePatchTest, DryRunReturnsTheResultAndStoresNothing) {
  const JsonResponse patched = Send({{"spec", {{"replicas", 2}}}}, "?dryRun=All");

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/spec/replicas"), 2);
  EXPECT_EQ(Get(object_path_).body, created_.body);
}

TEST_F(StrategicMergePatchTest, ChangedFieldsBelongToTheFieldManager) {
  const JsonResponse patched = Send(
      {{"spec",
        {{"template", {{"spec", {{"containers", {{{"name", "web"}, {"image", "web:2"}}}}}}}}}}},
      "?fieldManager=me");

  const json entries = ManagedFields(patched);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[1], ManagedFieldsEntry("me", "Update", "apps/v1", R"({"f:spec": {"f:template":
      {"f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {"f:image": {}}}}}}})"));
}

TEST_F(StrategicMergePatchTest, StatusIsMergedThroughItsSubresource) {
  const auto set_condition = [&](const std::string& type) {
    return Send({{"status", {{"conditions", {{{"type", type}, {"status", "True"}}}}}}}, "",
                "/status");
  };
  set_condition("Available");

  const JsonResponse patched = set_condition("Progressing");

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/status/conditions").size(), 2U) << patched.text;
  EXPECT_EQ(patched.at("/metadata/generation"), 1);
}

TEST_F(StrategicMergePatchTest, ScaleIsMergedThroughItsSubresource) {
  const JsonResponse patched = Send({{"spec", {{"replicas", 5}}}}, "", "/scale");

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.str("/kind"), "Scale");
  EXPECT_EQ(Get(object_path_).at("/spec/replicas"), 5);
}

TEST_F(StrategicMergePatchTest, TheSelectorOfAPodDisruptionBudgetIsReplaced) {
  const std::string budgets = Path("policy/v1", "poddisruptionbudgets");
  Post(budgets,
       {{"metadata", {{"name", "a"}}}, {"spec", {{"selector", {{"matchLabels", {{"a", "1"}}}}}}}});
  object_path_ = budgets + "/a";

  const JsonResponse patched = Send({{"spec", {{"selector", {{"matchLabels", {{"b", "1"}}}}}}}});

  EXPECT_EQ(patched.at("/spec/selector/matchLabels"), json({{"b", "1"}})) << patched.text;
}

TEST_F(StrategicMergePatchTest, PortsAreMergedByTheirNumberOnly) {
  const std::string services = Path("services");
  Post(services, {{"metadata", {{"name", "a"}}},
                  {"spec",
                   {{"ports",
                     {{{"name", "tcp"}, {"port", 53}, {"protocol", "TCP"}},
                      {{"name", "udp"}, {"port", 53}, {"protocol", "UDP"}}}}}}});
  object_path_ = services + "/a";

  const JsonResponse patched =
      Send({{"spec", {{"ports", {{{"port", 53}, {"name", "x"}, {"protocol", "TCP"}}}}}}});

  EXPECT_THAT(Names(patched.at("/spec/ports")), ElementsAre("x", "udp")) << patched.text;
}

}  // namespace
}  // namespace kopp::conformance
