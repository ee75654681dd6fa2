#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <kopp/informer/api_error.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

TEST(ApiErrorTest, MessageHasTheRequestAndTheStatus) {
  const auto error = ApiError::FromBody(
      "PUT /apis/g/v1/foos/a", 409,
      R"({"kind": "Status", "reason": "Conflict", "message": "the object has been modified",
          "code": 409})");

  EXPECT_STREQ(error.what(), "PUT /apis/g/v1/foos/a: 409 Conflict: the object has been modified");
  EXPECT_TRUE(error.IsConflict());
  EXPECT_FALSE(error.IsAlreadyExists());
}

TEST(ApiErrorTest, AlreadyExistsIsNotAConflictAlthoughBothAre409) {
  const auto error = ApiError::FromBody("POST /x", 409, R"({"reason": "AlreadyExists"})");

  EXPECT_TRUE(error.IsAlreadyExists());
  EXPECT_FALSE(error.IsConflict());
}

TEST(ApiErrorTest, ABodyThatIsNotAStatusIsQuotedAsOneLine) {
  const auto error = ApiError::FromBody("GET /x", 502, "<html>\nbad gateway</html>");

  EXPECT_STREQ(error.what(),
               "GET /x: 502: the response body is not a Status: <html> bad gateway</html>");
  EXPECT_TRUE(error.IsServerFault());
}

TEST(ApiErrorTest, IsGoneIsTrueForCode410AndForReasonExpired) {
  EXPECT_TRUE(ApiError("WATCH", {.code = 410}).IsGone());
  EXPECT_TRUE(ApiError("WATCH", {.reason = "Expired", .code = 500}).IsGone());
  EXPECT_FALSE(ApiError("WATCH", {.code = 404}).IsGone());
}

TEST(ApiErrorTest, IsTooLargeVersionIsTrueForTheCauseResourceVersionTooLarge) {
  const auto error = ApiError::FromBody(
      "GET /x", 504,
      R"({"reason": "Timeout", "details": {"causes": [{"reason": "ResourceVersionTooLarge",
          "message": "Too large resource version"}], "retryAfterSeconds": 1}})");

  EXPECT_TRUE(error.IsTooLargeVersion());
  EXPECT_EQ(error.retry_after(), 1s);
}

TEST(ApiErrorTest, TheRetryAfterHeaderTakesPrecedenceOverTheBody) {
  const auto error =
      ApiError::FromBody("GET /x", 429, R"({"details": {"retryAfterSeconds": 1}})", 7s);

  EXPECT_EQ(error.retry_after(), 7s);
}

}  // namespace
}  // namespace kopp
