// Tests that CustomResourceDefinitions in the groups of the Kubernetes project (k8s.io,
// kubernetes.io) need an approval annotation.
#include "custom_resources.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

const std::string approval_annotation = "api-approved.kubernetes.io";
const std::string approval_required =
    R"(protected groups must have approval annotation "api-approved.kubernetes.io")";
const std::string approval_link = ", see https://github.com/kubernetes/enhancements/pull/1111";

class CrdApprovalTest : public CrdPerTest {
 protected:
  static json MakeCrdWithApproval(const std::string& group, const json& approval) {
    json crd = MakeWidgetCrd(group, AnyObjectSchema());
    if (!approval.is_null()) crd["metadata"]["annotations"][approval_annotation] = approval;
    return crd;
  }
  /// Creates a CRD with this approval annotation, and waits at most 10 s for its condition
  /// KubernetesAPIApprovalPolicyConformant. Returns the condition as "STATUS REASON: MESSAGE", or
  /// "" if it is missing.
  static std::string CreateCrdAndGetApprovalCondition(const std::string& group,
                                                      const std::string& approval) {
    CreateCrdInGroup(group, MakeCrdWithApproval(group, approval));
    std::string found;
    Eventually(200, [&] {
      JsonResponse crd = Get(CrdPath());
      for (const json& condition : crd.at("/status/conditions")) {
        if (condition.value("type", "") != "KubernetesAPIApprovalPolicyConformant") continue;
        found = condition.value("status", "") + ' ' + condition.value("reason", "") + ": " +
                condition.value("message", "");
      }
      if (found.empty()) crd.status = 0;  // Eventually() retries while the status is not 200
      return crd;
    });
    return found;
  }
};

TEST_F(CrdApprovalTest, CrdInAProtectedGroupWithoutAnApprovalAnnotationIsRejected) {
  for (const std::string group : {"k8s.io", "g.k8s.io", "g.kubernetes.io"}) {
    const JsonResponse response = Post(crds_path, MakeCrdWithApproval(group, nullptr));

    EXPECT_THAT(Causes(response),
                ElementsAre("FieldValueRequired metadata.annotations[" + approval_annotation +
                            "]: Required value: " + approval_required + approval_link))
        << group;
  }
}

TEST_F(CrdApprovalTest, CrdInAnotherGroupNeedsNoApprovalAnnotation) {
  EXPECT_EQ(Post(crds_path + "?dryRun=All", MakeCrdWithApproval("g.notk8s.io", nullptr)).status,
            201);
}

TEST_F(CrdApprovalTest, ApprovalThatIsNeitherAUrlNorUnapprovedIsRejected) {
  const JsonResponse response = Post(crds_path, MakeCrdWithApproval("g.k8s.io", "yes"));

  EXPECT_THAT(
      Causes(response),
      ElementsAre("FieldValueInvalid metadata.annotations[" + approval_annotation +
                  R"(]: Invalid value: "yes": )" + approval_required +
                  R"( with either a URL or a reason starting with "unapproved")" + approval_link));
}

TEST_F(CrdApprovalTest, UnapprovedAnnotationSetsTheApprovalConditionToFalse) {
  EXPECT_EQ(CreateCrdAndGetApprovalCondition(UniqueName("g") + ".k8s.io", "unapproved, a test"),
            R"(False UnapprovedAnnotation: not approved: "unapproved, a test")");
}

TEST_F(CrdApprovalTest, UrlInTheApprovalAnnotationSetsTheApprovalConditionToTrue) {
  EXPECT_EQ(CreateCrdAndGetApprovalCondition(UniqueName("g") + ".k8s.io", "https://example.com/1"),
            "True ApprovedAnnotation: approved in https://example.com/1");
}

TEST_F(CrdApprovalTest, RemovingTheApprovalAnnotationIsRejected) {
  const std::string group = UniqueName("g") + ".k8s.io";
  CreateCrdInGroup(group, MakeCrdWithApproval(group, "unapproved, a test"));

  const JsonResponse patched =
      MergePatch(CrdPath(), {{"metadata", {{"annotations", {{approval_annotation, nullptr}}}}}});

  EXPECT_EQ(patched.status, 422);
}

}  // namespace
}  // namespace kopp::conformance
