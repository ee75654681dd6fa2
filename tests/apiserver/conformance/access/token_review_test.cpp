// TokenReview and SelfSubjectReview.
#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::StartsWith;

/// Fixture of tests of reviews of the token of the ServiceAccount "a".
class TokenReviewTest : public ConformanceTest {
 protected:
  std::string NewToken(const json& audiences = json::array()) {
    Post(Path("serviceaccounts"), MakeObjectWithName("a"));
    return Post(Path("serviceaccounts") + "/a/token", {{"spec", {{"audiences", audiences}}}})
        .str("/status/token");
  }
  static JsonResponse Review(const json& spec) {
    return Post("/apis/authentication.k8s.io/v1/tokenreviews", {{"spec", spec}});
  }
};

TEST_F(TokenReviewTest, ValidTokenIsAuthenticated) {
  const std::string token = NewToken();

  const JsonResponse review = Review({{"token", token}});

  EXPECT_EQ(review.status, 201);
  EXPECT_EQ(review.str("/kind"), "TokenReview");
  EXPECT_EQ(review.at("/spec"), json({{"token", token}}));
  EXPECT_EQ(review.at("/status/authenticated"), true);
  EXPECT_EQ(review.at("/status/user/username"), "system:serviceaccount:" + ns() + ":a");
  EXPECT_EQ(review.at("/status/audiences"), json({"https://kubernetes.default.svc"}));
}

TEST_F(TokenReviewTest, UnknownTokenIsNotAuthenticated) {
  const JsonResponse review = Review({{"token", "unknown"}});

  EXPECT_EQ(review.status, 201);
  EXPECT_EQ(review.at("/status"),
            json({{"user", json::object()}, {"error", "invalid bearer token"}}));
}

TEST_F(TokenReviewTest, TokenIsValidOnlyForItsAudiences) {
  const std::string token = NewToken({"x", "y"});

  EXPECT_EQ(Review({{"token", token}, {"audiences", {"z", "y"}}}).at("/status/audiences"),
            json({"y"}));
  EXPECT_EQ(Review({{"token", token}}).at("/status/error"),
            "[invalid bearer token, token audiences [\"x\" \"y\"] is invalid for the target "
            "audiences [\"https://kubernetes.default.svc\"]]");
}

TEST_F(TokenReviewTest, TokenIsRequired) {
  const JsonResponse review = Review(json::object());

  EXPECT_EQ(review.status, 400);
  EXPECT_EQ(review.message(), "token is required for TokenReview in authentication");
}

TEST_F(TokenReviewTest, SelfSubjectReviewReturnsTheUserOfTheRequest) {
  const JsonResponse review =
      Post("/apis/authentication.k8s.io/v1/selfsubjectreviews", MakeObjectWithName("ignored"));

  EXPECT_EQ(review.status, 201);
  EXPECT_EQ(review.str("/kind"), "SelfSubjectReview");
  EXPECT_EQ(review.at("/metadata/name"), json());
  EXPECT_EQ(review.at("/status/userInfo/groups"), json({"system:masters", "system:authenticated"}));
}

}  // namespace
}  // namespace kopp::conformance
