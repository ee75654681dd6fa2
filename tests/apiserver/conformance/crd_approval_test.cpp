// Groups of the Kubernetes project itself.
#include "custom_resources.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

const std::string annotation = "api-approved.kubernetes.io";
const std::string must =
    R"(protected groups must have approval annotation "api-approved.kubernetes.io")";
const std::string see = ", see https://github.com/kubernetes/enhancements/pull/1111";

class CrdApprovalTest : public DefinitionTest {
 protected:
  static json AProtected(const std::string& group, const json& approval) {
    json definition = ADefinition(group, Anything());
    if (!approval.is_null()) definition["metadata"]["annotations"][annotation] = approval;
    return definition;
  }
  /// "STATUS REASON: MESSAGE"
  static std::string ConditionOf(const std::string& group, const std::string& approval) {
    DefineIn(group, AProtected(group, approval));
    std::string found;
    Eventually(200, [&] {
      Answer definition = Get(Definition());
      for (const json& condition : definition.at("/status/conditions")) {
        if (condition.value("type", "") != "KubernetesAPIApprovalPolicyConformant") continue;
        found = condition.value("status", "") + ' ' + condition.value("reason", "") + ": " +
                condition.value("message", "");
      }
      if (found.empty()) definition.status = 0;  // not yet
      return definition;
    });
    return found;
  }
};

TEST_F(CrdApprovalTest, TheyNeedTheProjectsApproval) {
  for (const std::string group : {"k8s.io", "g.k8s.io", "g.kubernetes.io"}) {
    const Answer answer = Post(definitions, AProtected(group, nullptr));

    EXPECT_THAT(Causes(answer), ElementsAre("FieldValueRequired metadata.annotations[" +
                                            annotation + "]: Required value: " + must + see))
        << group;
  }
}

TEST_F(CrdApprovalTest, OthersDoNot) {
  EXPECT_EQ(Post(definitions + "?dryRun=All", AProtected("g.notk8s.io", nullptr)).status, 201);
}

TEST_F(CrdApprovalTest, AnythingIsNoApproval) {
  const Answer answer = Post(definitions, AProtected("g.k8s.io", "yes"));

  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldValueInvalid metadata.annotations[" + annotation +
                          R"(]: Invalid value: "yes": )" + must +
                          R"( with either a URL or a reason starting with "unapproved")" + see));
}

TEST_F(CrdApprovalTest, ItMayBeSaidThatThereIsNone) {
  EXPECT_EQ(ConditionOf(Unique("g") + ".k8s.io", "unapproved, a test"),
            R"(False UnapprovedAnnotation: not approved: "unapproved, a test")");
}

TEST_F(CrdApprovalTest, AnAddressIsOne) {
  EXPECT_EQ(ConditionOf(Unique("g") + ".k8s.io", "https://example.com/1"),
            "True ApprovedAnnotation: approved in https://example.com/1");
}

TEST_F(CrdApprovalTest, ItStaysWhereItWas) {
  const std::string group = Unique("g") + ".k8s.io";
  DefineIn(group, AProtected(group, "unapproved, a test"));

  const Answer patched =
      MergePatch(Definition(), {{"metadata", {{"annotations", {{annotation, nullptr}}}}}});

  EXPECT_EQ(patched.status, 422);
}

}  // namespace
}  // namespace kopp::conformance
