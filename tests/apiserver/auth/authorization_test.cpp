// Authorization of an ApiServer in memory. The conformance suite tests its rules.
#include <memory>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/api_server.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kReviews = "/apis/authorization.k8s.io/v1/";

ApiResponse Post(Transport& transport, const std::string& target, const json& body) {
  return transport.Call({.method = "POST", .target = target, .body = body.dump()});
}

json ReviewOfPods() {
  return {{"spec", {{"resourceAttributes", {{"verb", "list"}, {"resource", "pods"}}}}}};
}

TEST(AuthorizationTest, EverythingIsAllowedByDefault) {
  testing::ApiServer server;
  const auto jane = server.TransportAs("jane");

  EXPECT_EQ(jane->Call({.target = "/api/v1/pods"}).status, 200);
  const ApiResponse review =
      Post(*jane, std::string(kReviews) + "selfsubjectaccessreviews", ReviewOfPods());
  EXPECT_EQ(json::parse(review.body)["status"], json({{"allowed", true}}));
}

TEST(AuthorizationTest, DefaultServerHasNoBootstrapRoles) {
  testing::ApiServer server;

  const ApiResponse role = server.transport().Call(
      {.target = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:discovery"});

  EXPECT_EQ(role.status, 404);
}

TEST(AuthorizationTest, RbacLimitsAUserOfTheInMemoryTransport) {
  testing::ApiServer server({.authorization = testing::AuthorizationMode::kRbac});
  const auto jane = server.TransportAs("jane");

  const ApiResponse list = jane->Call({.target = "/api/v1/pods"});

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

  const ApiResponse review = Post(server.transport(), "/apis/authentication.k8s.io/v1/tokenreviews",
                                  {{"spec", {{"token", std::string(jane.token.Reveal())}}}});

  EXPECT_EQ(json::parse(review.body)["status"]["user"],
            json({{"username", "jane"}, {"groups", {"devs", "system:authenticated"}}}));
}

TEST(AuthorizationTest, RbacNeedsTls) {
  testing::ApiServer server({.authorization = testing::AuthorizationMode::kRbac});

  EXPECT_THROW(static_cast<void>(server.Listen()), std::logic_error);
}

}  // namespace
}  // namespace kopp
