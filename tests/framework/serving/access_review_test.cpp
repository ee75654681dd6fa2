#include "reviewing_api_server.hpp"

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/serving/access_review.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using testing::ReviewingApiServer;

class AccessReviewerTest : public ::testing::Test {
 protected:
  static HttpRequest RequestWith(const std::string& authorization,
                                 const std::string& path = "/metrics") {
    HttpRequest request{.method = "GET", .path = path};
    if (!authorization.empty()) request.headers.emplace("authorization", authorization);
    return request;
  }
  /// Returns the status of the response to a request with this Authorization header.
  int Status(const std::string& authorization, const std::string& path = "/metrics") {
    return handler_(RequestWith(authorization, path)).status;
  }

  std::string log_;
  testing::FakeClock clock_;
  ReviewingApiServer api_{clock_};
  AccessReviewer reviewer_{
      api_.client(), Logger({.write = [this](std::string_view line) { log_ += line; }}), clock_};
  HttpServer::Handler handler_ =
      RequireAccess([](const HttpRequest&) { return HttpResponse{.body = "page"}; }, reviewer_);
};

TEST_F(AccessReviewerTest, AllowedUserGetsThePage) {
  EXPECT_EQ(handler_(RequestWith("Bearer good")).body, "page");
  EXPECT_EQ(Status("bearer   good"), 200);
}

TEST_F(AccessReviewerTest, RequestWithoutValidTokenIsUnauthorized) {
  EXPECT_EQ(Status("Bearer bad"), 401);
  EXPECT_EQ(api_.token_reviews(), 1);
  EXPECT_EQ(Status(""), 401);
  EXPECT_EQ(Status("Bearer "), 401);
  EXPECT_EQ(Status("Basic good"), 401);
  EXPECT_EQ(Status("Bearer go od"), 401);
  EXPECT_EQ(Status("Bearer \xff"), 401);
  EXPECT_EQ(Status("Bearer " + std::string(20'000, 'x')), 401);

  const HttpResponse response = handler_(RequestWith(""));
  EXPECT_EQ(response.body, "Unauthorized\n");
  EXPECT_THAT(response.headers, ::testing::Contains(Pair("WWW-Authenticate", "Bearer")));
  EXPECT_EQ(api_.token_reviews(), 1);
}

TEST_F(AccessReviewerTest, UserWithoutPermissionIsForbidden) {
  const HttpResponse response = handler_(RequestWith("Bearer other"));

  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(response.body, "Authorization denied for user stranger\n");
  EXPECT_EQ(Status("Bearer good", "/secrets"), 403);
}

TEST_F(AccessReviewerTest, ValidAndInvalidTokensAreReviewedOncePerMinute) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Status("Bearer good"), 200);
    EXPECT_EQ(Status("Bearer bad"), 401);
  }
  clock_.Advance(59s);
  EXPECT_EQ(Status("Bearer good"), 200);
  EXPECT_EQ(Status("Bearer bad"), 401);
  EXPECT_EQ(api_.token_reviews(), 2);

  clock_.Advance(1s);
  EXPECT_EQ(Status("Bearer good"), 200);
  EXPECT_EQ(Status("Bearer bad"), 401);
  EXPECT_EQ(api_.token_reviews(), 4);
}

TEST_F(AccessReviewerTest, PermissionsAreReviewedEveryFiveMinutesAndRefusalsEvery30Seconds) {
  EXPECT_EQ(Status("Bearer good"), 200);
  EXPECT_EQ(Status("Bearer other"), 403);
  EXPECT_EQ(api_.access_reviews(), 2);

  clock_.Advance(29s);
  EXPECT_EQ(Status("Bearer other"), 403);
  EXPECT_EQ(api_.access_reviews(), 2);
  clock_.Advance(1s);
  EXPECT_EQ(Status("Bearer other"), 403);
  EXPECT_EQ(api_.access_reviews(), 3);

  clock_.Advance(269s);
  EXPECT_EQ(Status("Bearer good"), 200);
  EXPECT_EQ(api_.access_reviews(), 3);
  clock_.Advance(1s);
  EXPECT_EQ(Status("Bearer good"), 200);
  EXPECT_EQ(api_.access_reviews(), 4);
}

TEST_F(AccessReviewerTest, FailedReviewIsRefusedLoggedWithoutTheTokenAndNotCached) {
  api_.transport().Respond("POST", ReviewingApiServer::kTokenReviews, 403,
                           R"({"kind":"Status","message":"no tokenreviews","code":403})");

  const HttpResponse response = handler_(RequestWith("Bearer good"));

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body, "Authentication failed\n");
  EXPECT_THAT(log_, AllOf(HasSubstr("no tokenreviews"), HasSubstr("system:auth-delegator"),
                          Not(HasSubstr("good"))));
  api_.transport().Respond("POST", ReviewingApiServer::kTokenReviews, 201,
                           R"({"status":{"authenticated":true,"user":{"username":"x"}}})");
  EXPECT_EQ(Status("Bearer good"), 403);
  api_.transport().Respond("POST", ReviewingApiServer::kAccessReviews, 500, "oops");
  EXPECT_EQ(handler_(RequestWith("Bearer good", "/x")).body, "Authorization for user x failed\n");
}

TEST_F(AccessReviewerTest, MalformedReviewIsRefused) {
  api_.transport().Respond("POST", ReviewingApiServer::kTokenReviews, 201, "[]");
  EXPECT_EQ(Status("Bearer good"), 500);
  api_.transport().Respond("POST", ReviewingApiServer::kTokenReviews, 201,
                           R"({"status":{"authenticated":true,"user":{"username":7}}})");
  EXPECT_EQ(Status("Bearer good"), 500);
}

TEST_F(AccessReviewerTest, ConcurrentRequestsWithOneTokenCauseOneReviewAndTooManyGet503) {
  std::latch refused{1};
  api_.before_token_review = [&] { refused.wait(); };
  std::atomic<int> allowed = 0;
  std::atomic<int> busy = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 5; ++i) {  // one more than AccessReviewOptions::max_pending
      threads.emplace_back([&] {
        const int status = Status("Bearer good");
        if (status == 200) ++allowed;
        if (status == 503 && ++busy == 1) refused.count_down();
      });
    }
  }

  EXPECT_EQ(allowed, 4);
  EXPECT_EQ(busy, 1);
  EXPECT_EQ(api_.token_reviews(), 1);
  EXPECT_EQ(api_.access_reviews(), 1);
}

TEST_F(AccessReviewerTest, KnownTokenIsServedWhileUnknownTokensWaitForReviews) {
  EXPECT_EQ(Status("Bearer good"), 200);
  std::latch entered{4};
  std::latch proceed{1};
  api_.before_token_review = [&] {
    entered.count_down();
    proceed.wait();
  };
  std::vector<std::jthread> flood;
  for (int i = 0; i < 4; ++i) {
    flood.emplace_back([&, i] { EXPECT_EQ(Status("Bearer bad" + std::to_string(i)), 401); });
  }
  entered.wait();

  EXPECT_EQ(Status("Bearer good"), 200);
  EXPECT_EQ(Status("Bearer unknown"), 503);
  proceed.count_down();
}

TEST_F(AccessReviewerTest, CacheIsBounded) {
  AccessReviewer small(api_.client(), Logger(), clock_, {.max_cached = 2});
  const auto review = [&](const std::string& token) {
    (void)small.Refuse(RequestWith("Bearer " + token));
    return api_.token_reviews();
  };

  EXPECT_EQ(review("a"), 1);
  EXPECT_EQ(review("b"), 2);
  EXPECT_EQ(review("a"), 2);
  EXPECT_EQ(review("c"), 3);
  EXPECT_EQ(review("a"), 3);
  EXPECT_EQ(review("b"), 4);
}

TEST_F(AccessReviewerTest, StopMakesReviewsFail) {
  reviewer_.Stop();

  EXPECT_EQ(Status("Bearer good"), 500);
  EXPECT_EQ(api_.token_reviews(), 0);
}

}  // namespace
}  // namespace kopp
