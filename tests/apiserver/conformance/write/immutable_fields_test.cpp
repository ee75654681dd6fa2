#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

class ImmutableFieldTest : public ConformanceTest {
 protected:
  /// Creates `object` named "a" and patches it.
  JsonResponse CreateAndPatch(const std::string& path, const json& object, const json& patch) {
    json named = object;
    named["metadata"]["name"] = "a";
    EXPECT_EQ(Post(path, named).status, 201);
    return MergePatch(path + "/a", patch);
  }
};

TEST_F(ImmutableFieldTest, ChangingTheSelectorOfADeploymentIsRejected) {
  const json labels{{"more", "x"}};
  const JsonResponse patched =
      CreateAndPatch(Path("apps/v1", "deployments"), MakeDeployment("a"),
                     {{"spec",
                       {{"selector", {{"matchLabels", labels}}},
                        {"template", {{"metadata", {{"labels", labels}}}}}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched),
              ElementsAre(R"(FieldValueInvalid spec.selector: Invalid value: )"
                          R"({"matchLabels":{"app":"a","more":"x"}}: field is immutable)"));
}

TEST_F(ImmutableFieldTest, ChangingTheServiceNameOfAStatefulSetIsRejected) {
  const JsonResponse patched = CreateAndPatch(Path("apps/v1", "statefulsets"), MakeDeployment("a"),
                                              {{"spec", {{"serviceName", "other"}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(
      Causes(patched),
      ElementsAre("FieldValueForbidden spec: Forbidden: updates to statefulset spec for fields "
                  "other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
                  "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                  "'minReadySeconds' are forbidden"));
}

TEST_F(ImmutableFieldTest, ChangingTheDataOfAnImmutableSecretIsRejected) {
  const JsonResponse patched =
      CreateAndPatch(Path("secrets"), {{"immutable", true}, {"data", {{"a", "eA=="}}}},
                     {{"data", {{"a", "eQ=="}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched), ElementsAre("FieldValueForbidden data: Forbidden: field is "
                                           "immutable when `immutable` is set"));
}

TEST_F(ImmutableFieldTest, UnsettingImmutableOfASecretIsRejected) {
  const JsonResponse patched =
      CreateAndPatch(Path("secrets"), {{"immutable", true}}, {{"immutable", false}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched), ElementsAre("FieldValueForbidden immutable: Forbidden: field is "
                                           "immutable when `immutable` is set"));
}

TEST_F(ImmutableFieldTest, ChangingTheLabelsOfAnImmutableSecretIsAllowed) {
  const JsonResponse patched = CreateAndPatch(Path("secrets"), {{"immutable", true}},
                                              {{"metadata", {{"labels", {{"a", "b"}}}}}});

  EXPECT_EQ(patched.status, 200);
}

TEST_F(ImmutableFieldTest, ChangingTheTypeOfASecretIsRejected) {
  const JsonResponse patched =
      CreateAndPatch(Path("secrets"), json::object(), {{"type", "example.com/x"}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched), ElementsAre("FieldValueInvalid type: Invalid value: "
                                           "\"example.com/x\": field is immutable"));
}

TEST_F(ImmutableFieldTest, ChangingTheDataOfAnImmutableConfigMapIsRejected) {
  const JsonResponse patched = CreateAndPatch(
      Path("configmaps"), {{"immutable", true}, {"data", {{"a", "x"}}}}, {{"data", {{"a", "y"}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched), ElementsAre("FieldValueForbidden data: Forbidden: field is "
                                           "immutable when `immutable` is set"));
}

TEST_F(ImmutableFieldTest, ChangingTheCompletionsOfAJobIsRejected) {
  json pod = MakePod("a")["spec"];
  pod["restartPolicy"] = "Never";
  const JsonResponse patched =
      CreateAndPatch(Path("batch/v1", "jobs"), {{"spec", {{"template", {{"spec", pod}}}}}},
                     {{"spec", {{"completions", 5}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched), ElementsAre("FieldValueInvalid spec.completions: Invalid value: 5: "
                                           "field is immutable"));
}

}  // namespace
}  // namespace kopp::conformance
