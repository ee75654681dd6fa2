#include "discovery_documents.hpp"

#include <stop_token>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/discovery.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class DiscoveryTest : public ::testing::Test {
 protected:
  void ServeAggregated() {
    transport_.Respond("GET", "/api", 200, kAggregatedCore);
    transport_.Respond("GET", "/apis", 200, kAggregatedGroups);
  }
  /// As an API server before Kubernetes 1.27, which ignores the media types that it does not know.
  void ServeLegacy() {
    transport_.Respond("GET", "/api", 200, kLegacyCore);
    transport_.Respond("GET", "/apis", 200, kLegacyGroups);
    transport_.Respond("GET", "/api/v1", 200, kLegacyCoreV1);
    transport_.Respond("GET", "/apis/apps/v1", 200, kLegacyAppsV1);
    transport_.Respond("GET", "/apis/apps/v1beta1", 200,
                       R"({"kind":"APIResourceList","resources":[]})");
    transport_.Respond("GET", "/apis/metrics.k8s.io/v1beta1", 200,
                       R"({"kind":"APIResourceList","resources":[]})");
  }
  std::vector<std::string> RequestedPaths() {
    std::vector<std::string> paths;
    for (const ApiRequest& request : transport_.Requests()) paths.push_back(request.target);
    return paths;
  }
  static std::vector<std::string> VersionsOf(const ApiGroup& group) {
    std::vector<std::string> versions;
    for (const ApiVersion& version : group.versions) versions.push_back(version.version);
    return versions;
  }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  DiscoveryClient discovery_{transport_};
};

TEST_F(DiscoveryTest, AggregatedDiscoverySendsTwoRequests) {
  ServeAggregated();

  (void)discovery_.Groups();

  EXPECT_THAT(RequestedPaths(), ElementsAre("/api", "/apis"));
  EXPECT_EQ(transport_.Requests()[1].accept,
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
            "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
            "application/json");
}

TEST_F(DiscoveryTest, AggregatedDiscoveryReturnsGroupsAndVersionsInTheOrderOfTheServer) {
  ServeAggregated();

  const std::vector<ApiGroup> groups = discovery_.Groups();

  ASSERT_EQ(groups.size(), 3);
  EXPECT_EQ(groups[0].name, "");
  EXPECT_EQ(groups[1].name, "apps");
  EXPECT_EQ(groups[2].name, "metrics.k8s.io");
  EXPECT_THAT(VersionsOf(groups[1]), ElementsAre("v1", "v1beta1"));
}

TEST_F(DiscoveryTest, AnAggregatedResourceHasItsKindNamesVerbsScopeAndSubresources) {
  ServeAggregated();

  const std::vector<ApiGroup> groups = discovery_.Groups();

  const std::vector<ApiResource>& core = groups[0].versions[0].resources;
  ASSERT_EQ(core.size(), 2);
  EXPECT_EQ(core[0].kind, OwningKind({"v1", "Pod", "pods"}));
  EXPECT_EQ(core[0].singular, "pod");
  EXPECT_THAT(core[0].short_names, ElementsAre("po"));
  EXPECT_TRUE(core[0].HasVerb("watch"));
  EXPECT_FALSE(core[0].HasVerb("delete"));
  EXPECT_TRUE(core[0].HasSubresource("log"));
  EXPECT_FALSE(core[0].HasSubresource("scale"));
  EXPECT_EQ(core[1].kind, OwningKind({"v1", "Node", "nodes", Scope::kCluster}));
  EXPECT_EQ(groups[1].versions[0].resources[0].kind,
            OwningKind({"apps/v1", "Deployment", "deployments"}));
}

TEST_F(DiscoveryTest, AnAggregatedResourceWithoutAKindIsSkipped) {
  ServeAggregated();
  transport_.Respond("GET", "/apis", 200, R"({"kind":"APIGroupDiscoveryList","items":[
      {"metadata":{"name":"g"},"versions":[{"version":"v1","resources":[
      {"resource":"parents","responseKind":null,"subresources":[{"subresource":"child"}]}]}]}]})");

  EXPECT_THAT(discovery_.Groups().at(1).versions.at(0).resources, IsEmpty());
}

TEST_F(DiscoveryTest, AStaleAggregatedGroupIsReportedAndTheOthersAreReturned) {
  ServeAggregated();
  transport_.Respond("GET", "/apis", 200, kAggregatedGroupsWithoutMetrics);

  const std::vector<ApiGroup> groups = discovery_.Groups();

  ASSERT_EQ(groups.size(), 3);
  EXPECT_EQ(groups[1].versions[0].problem, "");
  EXPECT_EQ(groups[1].versions[0].resources.size(), 1);
  EXPECT_THAT(groups[2].versions[0].problem,
              HasSubstr("check the APIService v1beta1.metrics.k8s.io"));
}

TEST_F(DiscoveryTest, AServerWithoutAggregatedDiscoveryIsAskedForEachVersion) {
  ServeLegacy();

  const std::vector<ApiGroup> groups = discovery_.Groups();

  EXPECT_THAT(RequestedPaths(), ElementsAre("/api", "/api/v1", "/apis", "/apis/apps/v1",
                                            "/apis/apps/v1beta1", "/apis/metrics.k8s.io/v1beta1"));
  ASSERT_EQ(groups.size(), 3);
  EXPECT_THAT(VersionsOf(groups[1]), ElementsAre("v1", "v1beta1")) << "preferredVersion first";
  EXPECT_EQ(groups[1].versions[0].resources[0].kind,
            OwningKind({"apps/v1", "Deployment", "deployments"}));
}

TEST_F(DiscoveryTest, TheFormOfEachResponseIsDecidedByItsOwnKind) {
  ServeLegacy();
  transport_.Respond("GET", "/api", 200, kAggregatedCore);

  const std::vector<ApiGroup> groups = discovery_.Groups();

  ASSERT_EQ(groups.size(), 3);
  EXPECT_EQ(groups[0].versions[0].resources.size(), 2);
  EXPECT_EQ(groups[1].versions[0].resources.size(), 1);
}

TEST_F(DiscoveryTest, AVersionThatCannotBeReadIsReportedAndTheOthersAreReturned) {
  struct Case {
    testing::ScriptedTransport::Handler handler;
    std::string problem;
  };
  const std::vector<Case> cases = {
      {[](const ApiRequest&) { return ApiResponse{.status = 503, .body = "no endpoints"}; },
       "GET /apis/metrics.k8s.io/v1beta1: 503"},
      {[](const ApiRequest&) { return ApiResponse{.status = 200, .body = "<html>"}; },
       "GET /apis/metrics.k8s.io/v1beta1: the response is not from a Kubernetes API server"},
      {[](const ApiRequest&) -> ApiResponse {
         throw TransportError(TransportError::Kind::kTimeout, "no response within 30 s");
       },
       "no response within 30 s"}};
  ServeLegacy();
  for (const auto& [handler, problem] : cases) {
    transport_.On("GET", "/apis/metrics.k8s.io/v1beta1", handler);

    const std::vector<ApiGroup> groups = discovery_.Groups();

    ASSERT_EQ(groups.size(), 3);
    EXPECT_THAT(groups[2].versions[0].problem, StartsWith(problem));
    EXPECT_THAT(groups[2].versions[0].resources, IsEmpty());
    EXPECT_EQ(groups[1].versions[0].problem, "");
    EXPECT_EQ(groups[1].versions[0].resources.size(), 1);
  }
}

TEST_F(DiscoveryTest, AVersionWithAnInvalidNameIsReportedAndTheOthersAreReturned) {
  ServeLegacy();
  transport_.Respond(
      "GET", "/apis", 200,
      R"({"kind":"APIGroupList","groups":[{"name":"apps","versions":[{},{"version":"v1"}]}]})");

  const std::vector<ApiGroup> groups = discovery_.Groups();

  ASSERT_EQ(groups.back().versions.size(), 2U);
  EXPECT_THAT(groups.back().versions[0].problem, HasSubstr("is not a valid"));
  EXPECT_EQ(groups.back().versions[1].problem, "");
  EXPECT_FALSE(groups.back().versions[1].resources.empty());
}

TEST_F(DiscoveryTest, GroupsThrowsIfTheServerBecomesUnreachable) {
  ServeLegacy();
  transport_.On("GET", "/apis/apps/v1", [](const ApiRequest&) -> ApiResponse {
    throw TransportError(TransportError::Kind::kUnreachable, "connection refused");
  });

  EXPECT_THROW((void)discovery_.Groups(), TransportError);
}

TEST_F(DiscoveryTest, GroupsThrowsAnApiErrorThatNamesTheRequest) {
  transport_.Respond("GET", "/api", 403, R"({"reason":"Forbidden","message":"not you"})");

  try {
    (void)discovery_.Groups();
    FAIL() << "Groups returned";
  } catch (const ApiError& error) {
    EXPECT_THAT(error.what(), StartsWith("GET /api: 403 Forbidden: not you"));
  }
}

TEST_F(DiscoveryTest, AResponseOfAnotherServerIsAnErrorThatSaysWhatToCheck) {
  for (const std::string body : {"<html>", "[]", "{}", R"({"kind":"Status"})"}) {
    transport_.Respond("GET", "/api", 200, body);
    transport_.Respond("GET", "/apis/apps/v1", 200, body);
    try {
      (void)discovery_.Groups();
      ADD_FAILURE() << "Groups returned for " << body;
    } catch (const DecodeError& error) {
      EXPECT_THAT(error.what(), StartsWith("GET /api: the response is not from a Kubernetes API"));
      EXPECT_THAT(error.what(), HasSubstr("check the address of the server"));
    }
    EXPECT_THROW((void)discovery_.Resources("apps/v1"), DecodeError) << body;
  }
}

TEST_F(DiscoveryTest, ResourcesReturnsOneVersionWithItsSubresourcesInAnyOrder) {
  ServeLegacy();

  const std::vector<ApiResource> resources = discovery_.Resources("v1");

  ASSERT_EQ(resources.size(), 2);
  EXPECT_EQ(resources[0].kind, OwningKind({"v1", "Node", "nodes", Scope::kCluster}));
  EXPECT_EQ(resources[1].kind, OwningKind({"v1", "Pod", "pods"}));
  EXPECT_EQ(resources[1].singular, "pod");
  EXPECT_THAT(resources[1].short_names, ElementsAre("po"));
  EXPECT_THAT(resources[1].verbs, ElementsAre("get", "list"));
  EXPECT_THAT(resources[1].subresources, ElementsAre("log", "status"));
}

TEST_F(DiscoveryTest, ResourcesReturnsNoneIfTheServerDoesNotServeTheVersion) {
  transport_.Respond("GET", "/apis/apps/v9", 404, "404 page not found\n");

  EXPECT_THAT(discovery_.Resources("apps/v9"), IsEmpty());
}

TEST_F(DiscoveryTest, ResourcesThrowsForThe404PageOfAProxy) {
  transport_.Respond("GET", "/apis/apps/v1", 404, "<html><title>404 Not Found</title></html>");

  EXPECT_THROW((void)discovery_.Resources("apps/v1"), ApiError);
}

}  // namespace
}  // namespace kopp
