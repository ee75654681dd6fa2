#include "explore/requests.hpp"

#include <gtest/gtest.h>

namespace kopp::apiserver::explore {
namespace {

TEST(ExploreRequestsTest, AResponseIsDescribedByItsStatusAndMessage) {
  const ApiRequest request{.method = "POST", .target = "/api/v1/namespaces/default/configmaps"};
  EXPECT_EQ(DescribeResponse(request, {.status = 201, .body = R"({"message":"canary"})"}), "201");
  EXPECT_EQ(DescribeResponse(request, {.status = 409, .body = R"({"message":"it exists"})"}),
            "409 it exists");
}

TEST(ExploreRequestsTest, TheMessageOfAnErrorDoesNotQuoteTheValueOfASecret) {
  const ApiRequest request{.method = "PATCH",
                           .target = "/api/v1/namespaces/default/secrets/web",
                           .body = R"({"stringData":{"password":271828}})"};
  const std::string text = DescribeResponse(
      request,
      {.status = 400,
       .body = R"({"kind":"Status","status":"Failure","message":"expected string, got 271828"})"});
  EXPECT_TRUE(text.starts_with("400 expected string, got redacted-")) << text;
}

}  // namespace
}  // namespace kopp::apiserver::explore
