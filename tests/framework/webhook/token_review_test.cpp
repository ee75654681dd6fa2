// Tests webhooks for bearer tokens.
#include "webhook_fixture.hpp"

#include <gmock/gmock.h>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class TokenReviewTest : public WebhookTest {
 protected:
  TokenReviewTest() {
    registry_.AddAuthentication("/authenticate",
                                [](const TokenReview& review) -> std::optional<UserInfo> {
                                  if (review.token == "broken")
                                    throw std::runtime_error("no database");
                                  if (review.token != "good") return std::nullopt;
                                  return UserInfo{.username = "alice", .groups = {"dev"}};
                                },
                                {});
  }
  static json NewTokenReview(const std::string& token) {
    return {{"apiVersion", "authentication.k8s.io/v1"},
            {"kind", "TokenReview"},
            {"spec", {{"token", token}, {"audiences", {"a", "b"}}}}};
  }
  /// Returns the status of the answer.
  json StatusOf(const std::string& body, int code = 200,
                const std::string& content_type = "application/json") {
    const HttpResponse response = Send("/authenticate", body, content_type);
    EXPECT_EQ(response.status, code);
    return json::parse(response.body).at("status");
  }
};

// O9
TEST_F(TokenReviewTest, AValidTokenHasAUserAndTheAudiences) {
  const json answer = json::parse(Send("/authenticate", NewTokenReview("good").dump()).body);

  EXPECT_EQ(answer, json::parse(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview",
      "status":{"authenticated":true,"user":{"username":"alice","groups":["dev"]},
      "audiences":["a","b"]}})"));
}

TEST_F(TokenReviewTest, AnUnknownTokenIsNotAuthenticated) {
  EXPECT_EQ(StatusOf(NewTokenReview("bad").dump()), json({{"authenticated", false}}));
}

// O9
TEST_F(TokenReviewTest, AnEmptyTokenIsAnErrorWithoutACall) {
  EXPECT_EQ(StatusOf(NewTokenReview("").dump()),
            json({{"authenticated", false}, {"error", "token is empty"}}));
}

TEST_F(TokenReviewTest, AnExceptionAfterTheStopIsNotCounted) {
  registry_.AddAuthentication("/stopped",
                              [this](const TokenReview& review) -> std::optional<UserInfo> {
                                registry_.RequestStop();
                                EXPECT_TRUE(review.stop.stop_requested());
                                throw std::runtime_error("cancelled");
                              },
                              {});

  const HttpResponse response = Send("/stopped", NewTokenReview("good").dump());

  EXPECT_THAT(response.body, HasSubstr("cancelled"));
  EXPECT_THAT(log_, HasSubstr("A webhook was stopped"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("\ncontroller_runtime_webhook_panics_total 0\n"));
}

TEST_F(TokenReviewTest, AnExceptionIsTheErrorAndIsCounted) {
  EXPECT_EQ(StatusOf(NewTokenReview("broken").dump()),
            json({{"authenticated", false}, {"error", "no database"}}));
  EXPECT_THAT(log_, HasSubstr("webhook=\"/authenticate\" err=\"no database\""));
  EXPECT_THAT(metrics_.Text(), HasSubstr("\ncontroller_runtime_webhook_panics_total 1\n"));
}

// O9
TEST_F(TokenReviewTest, TheVersionOfTheRequestIsThatOfTheResponse) {
  json review = NewTokenReview("bad");
  review["apiVersion"] = "authentication.k8s.io/v1beta1";

  const json answer = json::parse(Send("/authenticate", review.dump()).body);

  EXPECT_EQ(answer.at("apiVersion"), "authentication.k8s.io/v1beta1");
}

// O9
TEST_F(TokenReviewTest, RequestsWithoutAReviewAreRejected) {
  EXPECT_EQ(StatusOf("", 400).at("error"), "request body is empty");
  EXPECT_EQ(StatusOf(NewTokenReview("good").dump(), 400, "text/plain").at("error"),
            "contentType=text/plain, expected application/json");
  EXPECT_THAT(StatusOf("{}", 400).at("error").get<std::string>(),
              HasSubstr("expected TokenReview"));
  EXPECT_EQ(StatusOf(NewTokenReview(std::string(1 << 20, 'x')).dump(), 413).at("error"),
            "request entity is too large; limit is 1048576 bytes");
  EXPECT_THAT(log_, HasSubstr("Invalid request for a webhook"));
}

}  // namespace
}  // namespace kopp
