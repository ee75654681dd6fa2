#include "support/raw_client.hpp"

#include <optional>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/serving/health.hpp>

namespace kopp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HealthChecksTest : public ::testing::Test {
 protected:
  /// Returns the response to GET /readyz`below`, for example below = "/ping".
  HttpResponse Get(const std::string& below = "", const std::string& query = "") {
    return checks_.At("/readyz")({.method = "GET", .path = "/readyz" + below, .query = query});
  }
  /// Adds a check that fails with `reason_` unless it is empty.
  void AddCheck(const std::string& name) {
    checks_.Add(name, [this]() -> std::optional<std::string> {
      if (reason_.empty()) return std::nullopt;
      return reason_;
    });
  }

  std::string log_;
  std::string reason_;
  HealthChecks checks_{Logger({.write = [this](std::string_view line) { log_ += line; }})};
};

TEST_F(HealthChecksTest, BodyIsOkIfAllChecksPass) {
  AddCheck("cache");

  const HttpResponse response = Get();

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "ok");
  EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
}

TEST_F(HealthChecksTest, PingPassesWithoutOtherChecks) {
  EXPECT_EQ(Get("", "verbose").body, "[+]ping ok\nhealthz check passed\n");
  EXPECT_EQ(Get("/ping").body, "ok");
}

TEST_F(HealthChecksTest, VerboseListsAllChecksSortedByName) {
  AddCheck("zoo");
  AddCheck("cache");

  EXPECT_EQ(Get("", "verbose").body, "[+]cache ok\n[+]ping ok\n[+]zoo ok\nhealthz check passed\n");
}

TEST_F(HealthChecksTest, FailureReturns500AndWithholdsTheReason) {
  AddCheck("cache");
  reason_ = "secret/key is missing";

  const HttpResponse response = Get();

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body, "[-]cache failed: reason withheld\n[+]ping ok\nhealthz check failed\n");
}

TEST_F(HealthChecksTest, ExceptionOfACheckIsAFailure) {
  checks_.Add("throws", []() -> std::optional<std::string> { throw std::runtime_error("oops"); });
  checks_.Add("throws-int", []() -> std::optional<std::string> { throw 1; });

  EXPECT_EQ(Get().status, 500);
  EXPECT_THAT(log_, HasSubstr("oops"));
}

TEST_F(HealthChecksTest, ReasonIsLoggedWhenTheCheckBeginsToFailAndNotForEachProbe) {
  AddCheck("cache");
  reason_ = "no sync";

  Get();
  EXPECT_THAT(log_, AllOf(HasSubstr("Health check failed"), HasSubstr("check=\"cache\""),
                          HasSubstr("err=\"no sync\"")));
  log_.clear();
  Get();
  EXPECT_THAT(log_, IsEmpty());
  reason_ = "";
  Get();

  EXPECT_THAT(log_, HasSubstr("Health check passes again"));
}

TEST_F(HealthChecksTest, ExcludedChecksAreNotRun) {
  AddCheck("cache");
  AddCheck("queue");
  reason_ = "no sync";

  const HttpResponse response = Get("", "exclude=cache&exclude=queue&verbose");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body,
            "[+]cache excluded: ok\n[+]ping ok\n[+]queue excluded: ok\nhealthz check passed\n");
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(HealthChecksTest, ExcludedNamesWithoutCheckCauseAWarning) {
  EXPECT_EQ(Get("", "exclude=b&exclude=a").body, "ok");
  EXPECT_EQ(Get("", "exclude=b&exclude=a&verbose").body,
            "[+]ping ok\nwarn: some health checks cannot be excluded: no matches for \"a\",\"b\"\n"
            "healthz check passed\n");
}

TEST_F(HealthChecksTest, PathBelowRunsOneCheck) {
  AddCheck("cache");
  checks_.Add("broken", []() -> std::optional<std::string> { return "reason"; });

  EXPECT_EQ(Get("/cache").body, "ok");
  EXPECT_EQ(Get("/cache").status, 200);
  EXPECT_EQ(Get("/broken").status, 500);
  EXPECT_EQ(Get("/broken").body, "internal server error: reason withheld\n");
  EXPECT_EQ(Get("/unknown").status, 404);
  EXPECT_EQ(Get("/").status, 500);
}

TEST_F(HealthChecksTest, CheckAddedWhileTheEndpointIsServedIsUsed) {
  const auto handler = checks_.At("/readyz");
  EXPECT_EQ(handler({.path = "/readyz"}).status, 200);
  AddCheck("late");
  reason_ = "not yet";

  EXPECT_EQ(handler({.path = "/readyz"}).status, 500);
}

TEST_F(HealthChecksTest, TwoChecksWithOneNameAreRejectedExceptPing) {
  AddCheck("cache");

  EXPECT_THROW(AddCheck("cache"), std::invalid_argument);
  EXPECT_THROW(AddCheck(""), std::invalid_argument);
  EXPECT_THROW(AddCheck("a/b"), std::invalid_argument);
  AddCheck("ping");
  reason_ = "no reply";
  EXPECT_EQ(Get("/ping").status, 500);
}

TEST_F(HealthChecksTest, EndpointIsServedOverHttpWithNosniff) {
  const HttpServer server({.address = "127.0.0.1:0"}, {{"/readyz/", checks_.At("/readyz")}});

  const auto root = testing::Get(server.port(), "/readyz");
  EXPECT_EQ(root.body, "ok");
  EXPECT_THAT(root.head, AllOf(HasSubstr("Content-Type: text/plain; charset=utf-8\r\n"),
                               HasSubstr("X-Content-Type-Options: nosniff\r\n")));
  EXPECT_EQ(testing::Get(server.port(), "/readyz/ping").body, "ok");
  EXPECT_THAT(testing::Get(server.port(), "/readyz?verbose").body, HasSubstr("[+]ping ok"));
}

}  // namespace
}  // namespace kopp
