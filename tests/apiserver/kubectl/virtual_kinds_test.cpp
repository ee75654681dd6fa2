// Virtual kinds of an ApiServer in memory. The conformance suite tests their rules.
#include "all_extensions.hpp"
#include "environment/extended_api_server.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/transport.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

ApiResponse Post(Transport& transport, const std::string& target, const json& body) {
  return transport.Call({.method = "POST", .target = target, .body = body.dump()});
}

TEST(RulesReviewTest, EverythingIsAllowedByDefault) {
  testing::ExtendedApiServer server(AllExtensions());

  const ApiResponse rules =
      Post(*server.TransportAs("jane"), "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
           {{"spec", {{"namespace", "default"}}}});
  EXPECT_EQ(
      json::parse(rules.body)["status"],
      json({{"incomplete", false},
            {"resourceRules", {{{"verbs", {"*"}}, {"apiGroups", {"*"}}, {"resources", {"*"}}}}},
            {"nonResourceRules", {{{"verbs", {"*"}}, {"nonResourceURLs", {"*"}}}}}}));
}

TEST(ServiceAccountTokenTest, ATokenExpires) {
  testing::FakeClock clock;
  testing::ExtendedApiServer server(AllExtensions(), {.clock = clock});
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  Post(server.transport(), accounts, {{"metadata", {{"name", "a"}}}});
  const ApiResponse created =
      Post(server.transport(), accounts + "/a/token", {{"spec", {{"expirationSeconds", 600}}}});
  const json review{{"spec", {{"token", json::parse(created.body)["status"]["token"]}}}};
  const auto status = [&] {
    return json::parse(
        Post(server.transport(), "/apis/authentication.k8s.io/v1/tokenreviews", review)
            .body)["status"];
  };
  EXPECT_EQ(status()["authenticated"], true);

  clock.Advance(std::chrono::seconds(660));
  EXPECT_EQ(status()["authenticated"], true);  // clocks may differ by a minute
  clock.Advance(std::chrono::seconds(1));

  EXPECT_EQ(status()["error"], "[invalid bearer token, service account token has expired]");
}

TEST(ServiceAccountTokenTest, TokenOfATerminatingServiceAccountExpiresAfterAMinute) {
  testing::FakeClock clock;
  testing::ExtendedApiServer server(AllExtensions(), {.clock = clock});
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  Post(server.transport(), accounts,
       {{"metadata", {{"name", "a"}, {"finalizers", {"example.com/f"}}}}});
  const ApiResponse created = Post(server.transport(), accounts + "/a/token", json::object());
  const json review{{"spec", {{"token", json::parse(created.body)["status"]["token"]}}}};
  const auto status = [&] {
    return json::parse(
        Post(server.transport(), "/apis/authentication.k8s.io/v1/tokenreviews", review)
            .body)["status"];
  };
  server.transport().Call({.method = "DELETE", .target = accounts + "/a"});
  clock.Advance(std::chrono::seconds(60));
  EXPECT_EQ(status()["authenticated"], true);
  clock.Advance(std::chrono::seconds(1));

  EXPECT_EQ(status()["error"],
            "[invalid bearer token, service account token has been invalidated]");
}

TEST(ServiceAccountTokenTest, TokenOfAnotherServerIsInvalid) {
  testing::ExtendedApiServer server(AllExtensions());
  testing::ExtendedApiServer other(AllExtensions());
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  Post(other.transport(), accounts, {{"metadata", {{"name", "a"}}}});
  const ApiResponse created = Post(other.transport(), accounts + "/a/token", json::object());

  const ApiResponse review =
      Post(server.transport(), "/apis/authentication.k8s.io/v1/tokenreviews",
           {{"spec", {{"token", json::parse(created.body)["status"]["token"]}}}});

  EXPECT_EQ(json::parse(review.body)["status"]["error"], "invalid bearer token");
}

}  // namespace
}  // namespace kopp::apiserver
