#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// Fixture of tests of the updates of Pods.
class PodUpdateTest : public ConformanceTest {
 protected:
  /// Creates a Pod "a" with some fields of its spec.
  void CreatePod(const json& spec_patch) {
    json pod = MakePod("a");
    pod["spec"].merge_patch(spec_patch);
    ASSERT_EQ(Post(PodsPath(), pod).status, 201);
  }
  JsonResponse UpdateSpec(const json& patch) {
    return MergePatch(Path("pods") + "/a", {{"spec", patch}});
  }
};

TEST_F(PodUpdateTest, TolerationsCanBeAddedAndGetOtherTimes) {
  CreatePod(R"({"tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute"}]})"_json);

  EXPECT_EQ(JsonPatch(Path("pods") + "/a",
                      R"([{"op": "add", "path": "/spec/tolerations/-",
                           "value": {"key": "b", "operator": "Exists"}},
                          {"op": "add", "path": "/spec/tolerations/0/tolerationSeconds",
                           "value": 3}])"_json)
                .status,
            200);
}

TEST_F(PodUpdateTest, TolerationsCannotBeRemoved) {
  CreatePod(R"({"tolerations": [{"key": "a", "operator": "Exists"}]})"_json);

  EXPECT_THAT(Causes(JsonPatch(Path("pods") + "/a",
                               R"([{"op": "remove", "path": "/spec/tolerations/0"}])"_json)),
              ElementsAre("FieldValueForbidden spec.tolerations: Forbidden: existing toleration "
                          "can not be modified except its tolerationSeconds"));
}

TEST_F(PodUpdateTest, DeadlineCanBecomeEarlierOnly) {
  CreatePod({{"activeDeadlineSeconds", 100}});

  EXPECT_THAT(Causes(UpdateSpec({{"activeDeadlineSeconds", 101}})),
              ElementsAre("FieldValueInvalid spec.activeDeadlineSeconds: Invalid value: 101: must "
                          "be less than or equal to previous value"));
  EXPECT_THAT(Causes(UpdateSpec({{"activeDeadlineSeconds", nullptr}})),
              ElementsAre("FieldValueInvalid spec.activeDeadlineSeconds: Invalid value: null: must "
                          "not update from a positive integer to nil value"));
  EXPECT_EQ(UpdateSpec({{"activeDeadlineSeconds", 99}}).status, 200);
}

TEST_F(PodUpdateTest, SchedulingGatesCanBeRemovedOnly) {
  CreatePod(R"({"schedulingGates": [{"name": "a"}, {"name": "b"}]})"_json);

  EXPECT_THAT(Causes(UpdateSpec(R"({"schedulingGates": [{"name": "a"}, {"name": "c"}]})"_json)),
              ElementsAre("FieldValueForbidden spec.schedulingGates[1].name: Forbidden: only "
                          "deletion is allowed, but found new scheduling gate 'c'"));
  EXPECT_EQ(UpdateSpec(R"({"schedulingGates": [{"name": "b"}]})"_json).status, 200);
}

TEST_F(PodUpdateTest, NodeSelectorOfAGatedPodCanBeExtended) {
  CreatePod(R"({"schedulingGates": [{"name": "a"}], "nodeSelector": {"a": "b"}})"_json);

  EXPECT_EQ(UpdateSpec({{"nodeSelector", {{"c", "d"}}}}).status, 200);
  EXPECT_THAT(Causes(UpdateSpec({{"nodeSelector", {{"a", "x"}}}})),
              ElementsAre(R"(FieldValueInvalid spec.nodeSelector: Invalid value: {"a":"x","c":"d"})"
                          R"(: only additions to spec.nodeSelector are allowed (no mutations or )"
                          R"(deletions))"));
}

TEST_F(PodUpdateTest, NodeSelectorOfAPodWithoutGatesCannotBeChanged) {
  CreatePod(R"({"nodeSelector": {"a": "b"}})"_json);

  EXPECT_THAT(Causes(UpdateSpec({{"nodeSelector", {{"c", "d"}}}})),
              ElementsAre(StartsWith("FieldValueForbidden spec: Forbidden: pod updates may not")));
}

TEST_F(PodUpdateTest, NodeAffinityOfAGatedPodCanBeExtended) {
  const auto affinity = [](const json& terms) {
    const json required{{"nodeSelectorTerms", terms}};
    return json{
        {"affinity",
         {{"nodeAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", required}}}}}};
  };
  const json a{{"key", "a"}, {"operator", "Exists"}};
  const json b{{"key", "b"}, {"operator", "Exists"}};
  const auto term = [](const json& expressions) { return json{{"matchExpressions", expressions}}; };
  json spec = affinity(json::array({term(json::array({a}))}));
  spec["schedulingGates"] = R"([{"name": "a"}])"_json;
  CreatePod(spec);

  EXPECT_EQ(UpdateSpec(affinity(json::array({term(json::array({a, b}))}))).status, 200);
  const JsonResponse removed = UpdateSpec(affinity(json::array({term(json::array({b}))})));
  EXPECT_EQ(removed.status, 422);
  EXPECT_EQ(removed.str("/details/causes/0/field"),
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
            "nodeSelectorTerms[0]");
  EXPECT_THAT(removed.message(),
              ::testing::EndsWith("only additions are allowed (no mutations or deletions)"));
  const JsonResponse added =
      UpdateSpec(affinity(json::array({term(json::array({a, b})), term(json::array({a}))})));
  EXPECT_THAT(added.message(),
              ::testing::EndsWith(
                  "no additions/deletions to non-empty NodeSelectorTerms list are allowed"));
}

TEST_F(PodUpdateTest, NegativeGracePeriodCanBecomeOneSecond) {
  CreatePod({{"terminationGracePeriodSeconds", -1}});

  EXPECT_EQ(UpdateSpec({{"terminationGracePeriodSeconds", 2}}).status, 422);
  EXPECT_EQ(UpdateSpec({{"terminationGracePeriodSeconds", 1}}).status, 200);
}

TEST_F(PodUpdateTest, ImageMustNotHaveWhiteSpaceAroundIt) {
  CreatePod(json::object());

  EXPECT_THAT(
      Causes(JsonPatch(
          Path("pods") + "/a",
          R"([{"op": "replace", "path": "/spec/containers/0/image", "value": "i "}])"_json)),
      Contains("FieldValueInvalid spec.containers[0].image: Invalid value: \"i \": must not have "
               "leading or trailing whitespace"));
}

TEST_F(PodUpdateTest, AnnotationsOfProfilesAndMirrorPodsCannotBeChanged) {
  CreatePod({{"nodeName", "n"}});
  const JsonResponse response =
      MergePatch(Path("pods") + "/a",
                 {{"metadata",
                   {{"annotations",
                     {{"container.apparmor.security.beta.kubernetes.io/nginx", "unconfined"},
                      {"kubernetes.io/config.mirror", "x"}}}}}});

  EXPECT_THAT(Causes(response),
              ::testing::UnorderedElementsAre(
                  "FieldValueForbidden "
                  "metadata.annotations[container.apparmor.security.beta.kubernetes.io/nginx]: "
                  "Forbidden: may not add AppArmor annotations",
                  "FieldValueForbidden metadata.annotations[kubernetes.io/config.mirror]: "
                  "Forbidden: may not add mirror pod annotation"));
}

TEST_F(PodUpdateTest, StartOfTheNameIsValidated) {
  CreatePod(json::object());

  EXPECT_THAT(
      Causes(MergePatch(Path("pods") + "/a", {{"metadata", {{"generateName", "a/%"}}}})),
      ElementsAre("FieldValueInvalid metadata.generateName: Invalid value: \"a/%\": may not "
                  "contain '/'",
                  "FieldValueInvalid metadata.generateName: Invalid value: \"a/%\": may not "
                  "contain '%'",
                  StartsWith("FieldValueInvalid metadata.generateName: Invalid value: \"a/%\": a "
                             "lowercase RFC 1123 subdomain")));
}

TEST_F(PodUpdateTest, UpdateHasNoWarningsAboutTheSpec) {
  json pod = MakePod("a");
  pod["spec"]["containers"][0]["env"] = R"([{"name": "A"}, {"name": "A"}])"_json;
  EXPECT_EQ(Post(PodsPath(), pod).warnings.size(), 1);

  EXPECT_THAT(UpdateSpec({{"activeDeadlineSeconds", 9}}).warnings, IsEmpty());
}

}  // namespace
}  // namespace kopp::conformance
