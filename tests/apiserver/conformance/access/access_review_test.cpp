// SubjectAccessReview and its relatives.
#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::StartsWith;

const std::string access_reviews = "/apis/authorization.k8s.io/v1/";

/// Fixture of tests of reviews of permissions.
class AccessReviewTest : public ConformanceTest {
 protected:
  json GetPods() { return {{"namespace", ns()}, {"verb", "get"}, {"resource", "pods"}}; }
  static JsonResponse Review(const std::string& resource, const json& spec) {
    return Post(access_reviews + resource, {{"spec", spec}});
  }
  JsonResponse LocalReview(const json& spec) {
    return Review("namespaces/" + ns() + "/localsubjectaccessreviews", spec);
  }
};

TEST_F(AccessReviewTest, AdministratorMayDoEverything) {
  const JsonResponse review =
      Review("selfsubjectaccessreviews", {{"resourceAttributes", GetPods()}});

  EXPECT_EQ(review.status, 201);
  EXPECT_EQ(review.str("/kind"), "SelfSubjectAccessReview");
  EXPECT_EQ(review.at("/spec"), json({{"resourceAttributes", GetPods()}}));
  EXPECT_EQ(review.at("/status"), json({{"allowed", true}}));
}

TEST_F(AccessReviewTest, UnknownUserMayDoNothing) {
  const JsonResponse review =
      Review("subjectaccessreviews", {{"user", "unknown"}, {"resourceAttributes", GetPods()}});

  EXPECT_EQ(review.status, 201);
  EXPECT_EQ(review.at("/status"), json({{"allowed", false}}));
}

TEST_F(AccessReviewTest, GroupOfTheReviewedUserCounts) {
  const JsonResponse review = Review(
      "subjectaccessreviews",
      {{"user", "unknown"}, {"groups", {"system:masters"}}, {"resourceAttributes", GetPods()}});

  EXPECT_EQ(review.at("/status"), json({{"allowed", true}}));
}

TEST_F(AccessReviewTest, EveryAuthenticatedUserMayDiscoverTheApi) {
  const JsonResponse review =
      Review("subjectaccessreviews",
             {{"user", "unknown"},
              {"groups", {"system:authenticated"}},
              {"nonResourceAttributes", {{"path", "/apis/apps"}, {"verb", "get"}}}});

  EXPECT_EQ(review.at("/status"),
            json({{"allowed", true},
                  {"reason",
                   "RBAC: allowed by ClusterRoleBinding \"system:discovery\" of ClusterRole "
                   "\"system:discovery\" to Group \"system:authenticated\""}}));
}

TEST_F(AccessReviewTest, LocalReviewChecksItsNamespace) {
  const JsonResponse review = LocalReview({{"user", "unknown"}, {"resourceAttributes", GetPods()}});

  EXPECT_EQ(review.status, 201);
  EXPECT_EQ(review.str("/metadata/namespace"), ns());
  EXPECT_EQ(review.at("/status"), json({{"allowed", false}}));

  json elsewhere = GetPods();
  elsewhere["namespace"] = "elsewhere";
  EXPECT_THAT(Causes(LocalReview({{"user", "unknown"}, {"resourceAttributes", elsewhere}})),
              ElementsAre("FieldValueInvalid spec.resourceAttributes.namespace: Invalid value: "
                          "\"elsewhere\": must match metadata.namespace"));
  EXPECT_THAT(
      Causes(LocalReview({{"user", "unknown"},
                          {"nonResourceAttributes", {{"path", "/healthz"}, {"verb", "get"}}}})),
      ElementsAre("FieldValueInvalid spec.nonResourceAttributes: Invalid value: "
                  "{\"Path\":\"/healthz\",\"Verb\":\"get\"}: disallowed on this kind of request"));
}

TEST_F(AccessReviewTest, ReviewNeedsAUserAndAttributes) {
  const JsonResponse review = Review("subjectaccessreviews", json::object());

  EXPECT_EQ(review.status, 422);
  EXPECT_THAT(review.message(), StartsWith(".authorization.k8s.io \"\" is invalid: ["));
  EXPECT_THAT(Causes(review),
              ElementsAre("FieldValueInvalid spec.resourceAttributes: Invalid value: null: exactly "
                          "one of nonResourceAttributes or resourceAttributes must be specified",
                          "FieldValueInvalid spec.user: Invalid value: \"\": at least one of user "
                          "or group must be specified"));
}

TEST_F(AccessReviewTest, ReviewOfBothAttributesIsRejected) {
  EXPECT_THAT(
      Causes(Review("selfsubjectaccessreviews",
                    {{"resourceAttributes", GetPods()},
                     {"nonResourceAttributes", {{"path", "/healthz"}, {"verb", "get"}}}})),
      ElementsAre("FieldValueInvalid spec.nonResourceAttributes: Invalid value: "
                  "{\"Path\":\"/healthz\",\"Verb\":\"get\"}: cannot be specified in combination "
                  "with resourceAttributes"));
}

TEST_F(AccessReviewTest, MetadataMustBeEmpty) {
  const JsonResponse review =
      Post(access_reviews + "selfsubjectaccessreviews",
           {{"metadata", {{"name", "a"}}}, {"spec", {{"resourceAttributes", GetPods()}}}});

  EXPECT_EQ(review.status, 422);
  EXPECT_THAT(Causes(review), ElementsAre(StartsWith("FieldValueInvalid metadata: ")));
}

TEST_F(AccessReviewTest, RulesReviewListsTheRulesOfTheUser) {
  const JsonResponse review =
      CallAs({.user = "unknown"}, {.method = "POST",
                                   .target = access_reviews + "selfsubjectrulesreviews",
                                   .body = json{{"spec", {{"namespace", ns()}}}}.dump()});

  EXPECT_EQ(review.status, 201);
  EXPECT_EQ(review.at("/status/incomplete"), false);
  EXPECT_THAT(review.at("/status/resourceRules").get<std::vector<json>>(),
              Contains(json({{"verbs", {"create"}},
                             {"apiGroups", {"authentication.k8s.io"}},
                             {"resources", {"selfsubjectreviews"}}})));
  EXPECT_THAT(review.at("/status/nonResourceRules").get<std::vector<json>>(),
              Contains(json({{"verbs", {"get"}},
                             {"nonResourceURLs",
                              {"/healthz", "/livez", "/readyz", "/version", "/version/"}}})));
}

TEST_F(AccessReviewTest, RulesReviewNeedsANamespace) {
  const JsonResponse review = Review("selfsubjectrulesreviews", json::object());

  EXPECT_EQ(review.status, 400);
  EXPECT_EQ(review.message(), "no namespace on request");
}

}  // namespace
}  // namespace kopp::conformance
