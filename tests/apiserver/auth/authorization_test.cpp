// Authorization of an ApiServer in memory. The conformance suite tests its rules.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kReviews = "/apis/authorization.k8s.io/v1/";

Response Post(Transport& transport, const std::string& target, const json& body) {
  return transport.Call({.method = "POST", .target = target, .body = body.dump()});
}

json ReviewOfPods() {
  return {{"spec", {{"resourceAttributes", {{"verb", "list"}, {"resource", "pods"}}}}}};
}

TEST(AuthorizationTest, EverythingIsAllowedByDefault) {
  testing::ApiServer server;
  const auto jane = server.TransportAs("jane");

  EXPECT_EQ(jane->Call({.target = "/api/v1/pods"}).status, 200);
  const Response review =
      Post(*jane, std::string(kReviews) + "selfsubjectaccessreviews", ReviewOfPods());
  EXPECT_EQ(json::parse(review.body)["status"], json({{"allowed", true}}));
  const Response rules = Post(*jane, std::string(kReviews) + "selfsubjectrulesreviews",
                              {{"spec", {{"namespace", "default"}}}});
  EXPECT_EQ(
      json::parse(rules.body)["status"],
      json({{"incomplete", false},
            {"resourceRules", {{{"verbs", {"*"}}, {"apiGroups", {"*"}}, {"resources", {"*"}}}}},
            {"nonResourceRules", {{{"verbs", {"*"}}, {"nonResourceURLs", {"*"}}}}}}));
}

TEST(AuthorizationTest, DefaultServerHasNoBootstrapRoles) {
  testing::ApiServer server;

  const Response role = server.transport().Call(
      {.target = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:discovery"});

  EXPECT_EQ(role.status, 404);
}

TEST(AuthorizationTest, RbacLimitsAUserOfTheInMemoryTransport) {
  testing::ApiServer server({.authorization = testing::AuthorizationMode::kRbac});
  const auto jane = server.TransportAs("jane");

  const Response list = jane->Call({.target = "/api/v1/pods"});

  EXPECT_EQ(list.status, 403);
  EXPECT_THAT(list.body, HasSubstr(R"(User \"jane\" cannot list resource \"pods\")"));
  EXPECT_EQ(server.transport().Call({.target = "/api/v1/pods"}).status, 200);
}

TEST(AuthorizationTest, AggregatedClusterRoleHasTheRulesOfTheSelectedRoles) {
  testing::ApiServer server({.authorization = testing::AuthorizationMode::kRbac});
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/";
  const json labels{{"aggregate", "true"}};
  const json selector{{"matchLabels", labels}};
  Post(server.transport(), rbac + "clusterroles",
       {{"metadata", {{"name", "all"}}},
        {"aggregationRule", {{"clusterRoleSelectors", {selector}}}}});
  Post(server.transport(), rbac + "clusterrolebindings",
       {{"metadata", {{"name", "all"}}},
        {"subjects",
         {{{"kind", "User"}, {"name", "jane"}, {"apiGroup", "rbac.authorization.k8s.io"}}}},
        {"roleRef",
         {{"kind", "ClusterRole"}, {"name", "all"}, {"apiGroup", "rbac.authorization.k8s.io"}}}});
  const auto jane = server.TransportAs("jane");
  EXPECT_EQ(jane->Call({.target = "/api/v1/pods"}).status, 403);

  Post(server.transport(), rbac + "clusterroles",
       {{"metadata", {{"name", "part"}, {"labels", labels}}},
        {"rules", {{{"apiGroups", {""}}, {"resources", {"pods"}}, {"verbs", {"list"}}}}}});

  EXPECT_EQ(jane->Call({.target = "/api/v1/pods"}).status, 200);
}

TEST(AuthorizationTest, ForbiddenRequestIsInTheAuditLog) {
  testing::ApiServer server({.authorization = testing::AuthorizationMode::kRbac});

  server.TransportAs("jane")->Call({.target = "/api/v1/pods"});

  const json entry = server.Requests().back();
  EXPECT_EQ(entry["user"]["username"], "jane");
  EXPECT_EQ(entry["responseStatus"]["code"], 403);
  EXPECT_EQ(entry["responseStatus"]["reason"], "Forbidden");
}

TEST(AuthorizationTest, BearerTokenOfAConfigPassesATokenReview) {
  testing::ApiServer server;
  server.Listen({.tls = true});
  const Config jane = server.ConfigFor("jane", {"devs"});

  const Response review = Post(server.transport(), "/apis/authentication.k8s.io/v1/tokenreviews",
                               {{"spec", {{"token", std::string(jane.token.Reveal())}}}});

  EXPECT_EQ(json::parse(review.body)["status"]["user"],
            json({{"username", "jane"}, {"groups", {"devs", "system:authenticated"}}}));
}

TEST(AuthorizationTest, ServiceAccountTokenExpires) {
  testing::FakeClock clock;
  testing::ApiServer server({.clock = clock});
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  Post(server.transport(), accounts, {{"metadata", {{"name", "a"}}}});
  const Response created =
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

TEST(AuthorizationTest, TokenOfATerminatingServiceAccountExpiresAfterAMinute) {
  testing::FakeClock clock;
  testing::ApiServer server({.clock = clock});
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  Post(server.transport(), accounts,
       {{"metadata", {{"name", "a"}, {"finalizers", {"example.com/f"}}}}});
  const Response created = Post(server.transport(), accounts + "/a/token", json::object());
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

TEST(AuthorizationTest, RbacNeedsTls) {
  testing::ApiServer server({.authorization = testing::AuthorizationMode::kRbac});

  EXPECT_THROW(static_cast<void>(server.Listen()), std::logic_error);
}

TEST(AuthorizationTest, TokenOfAnotherServerIsInvalid) {
  testing::ApiServer server;
  testing::ApiServer other;
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  Post(other.transport(), accounts, {{"metadata", {{"name", "a"}}}});
  const Response created = Post(other.transport(), accounts + "/a/token", json::object());

  const Response review =
      Post(server.transport(), "/apis/authentication.k8s.io/v1/tokenreviews",
           {{"spec", {{"token", json::parse(created.body)["status"]["token"]}}}});

  EXPECT_EQ(json::parse(review.body)["status"]["error"], "invalid bearer token");
}

}  // namespace
}  // namespace kopp
