#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

class ImmutableFieldTest : public ConformanceTest {
 protected:
  /// Creates `object` named "a" and patches it.
  Answer Change(const std::string& path, json object, const json& patch) {
    object["metadata"]["name"] = "a";
    EXPECT_EQ(Post(path, object).status, 201);
    return MergePatch(path + "/a", patch);
  }
};

TEST_F(ImmutableFieldTest, IsTheSelectorOfADeployment) {
  const json labels{{"more", "x"}};
  const Answer patched = Change(Path("apps/v1", "deployments"), ADeployment("a"),
                                {{"spec",
                                  {{"selector", {{"matchLabels", labels}}},
                                   {"template", {{"metadata", {{"labels", labels}}}}}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched),
              ElementsAre(R"(FieldValueInvalid spec.selector: Invalid value: )"
                          R"({"matchLabels":{"app":"a","more":"x"}}: field is immutable)"));
}

TEST_F(ImmutableFieldTest, IsMostOfAStatefulSet) {
  const Answer patched = Change(Path("apps/v1", "statefulsets"), ADeployment("a"),
                                {{"spec", {{"serviceName", "other"}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(
      Causes(patched),
      ElementsAre("FieldValueForbidden spec: Forbidden: updates to statefulset spec for fields "
                  "other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
                  "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                  "'minReadySeconds' are forbidden"));
}

TEST_F(ImmutableFieldTest, IsASecretThatSaysSo) {
  const Answer patched = Change(Path("secrets"), {{"immutable", true}, {"data", {{"a", "eA=="}}}},
                                {{"data", {{"a", "eQ=="}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched), ElementsAre("FieldValueForbidden data: Forbidden: field is "
                                           "immutable when `immutable` is set"));
}

TEST_F(ImmutableFieldTest, IsThatASecretIsImmutable) {
  const Answer patched = Change(Path("secrets"), {{"immutable", true}}, {{"immutable", false}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched), ElementsAre("FieldValueForbidden immutable: Forbidden: field is "
                                           "immutable when `immutable` is set"));
}

TEST_F(ImmutableFieldTest, AreNotTheLabelsOfAnImmutableSecret) {
  const Answer patched =
      Change(Path("secrets"), {{"immutable", true}}, {{"metadata", {{"labels", {{"a", "b"}}}}}});

  EXPECT_EQ(patched.status, 200);
}

TEST_F(ImmutableFieldTest, IsTheTypeOfASecret) {
  const Answer patched = Change(Path("secrets"), json::object(), {{"type", "example.com/x"}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched), ElementsAre("FieldValueInvalid type: Invalid value: "
                                           "\"example.com/x\": field is immutable"));
}

TEST_F(ImmutableFieldTest, IsAConfigMapThatSaysSo) {
  const Answer patched = Change(Path("configmaps"), {{"immutable", true}, {"data", {{"a", "x"}}}},
                                {{"data", {{"a", "y"}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched), ElementsAre("FieldValueForbidden data: Forbidden: field is "
                                           "immutable when `immutable` is set"));
}

TEST_F(ImmutableFieldTest, AreTheCompletionsOfAJob) {
  json pod = APod("a")["spec"];
  pod["restartPolicy"] = "Never";
  const Answer patched =
      Change(Path("batch/v1", "jobs"), {{"spec", {{"template", {{"spec", pod}}}}}},
             {{"spec", {{"completions", 5}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched), ElementsAre("FieldValueInvalid spec.completions: Invalid value: 5: "
                                           "field is immutable"));
}

}  // namespace
}  // namespace kopp::conformance
