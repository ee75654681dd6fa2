#include "discovery_documents.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <latch>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/rest_mapper.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const OwningKind deployments_v1 = Deployment::kKind;

class RestMapperTest : public ::testing::Test {
 protected:
  RestMapperTest() {
    transport_.Respond("GET", "/api", 200, kAggregatedCore);
    transport_.Respond("GET", "/apis", 200, kAggregatedGroups);
  }
  /// Adds the kind Foo of foo.example.com/v1 to the served resources.
  void InstallFoo() {
    transport_.Respond("GET", "/apis", 200, R"({"kind":"APIGroupDiscoveryList","items":[
        {"metadata":{"name":"foo.example.com"},"versions":[{"version":"v1","resources":[
        {"resource":"foos","responseKind":{"kind":"Foo"},"scope":"Namespaced"}]}]}]})");
  }
  /// Returns the number of requests for `path`.
  [[nodiscard]] std::ptrdiff_t RequestsFor(const std::string& path) {
    return std::ranges::count(transport_.Requests(), path, &ApiRequest::target);
  }
  /// Returns the number of complete loads: each sends a request for /api and one for /apis.
  [[nodiscard]] std::ptrdiff_t Loads() {
    EXPECT_EQ(RequestsFor("/api"), RequestsFor("/apis"));
    return RequestsFor("/apis");
  }
  /// Makes the first load block until kThreads threads call ForResource, and return `response`.
  /// Returns how many of the calls have found the resource.
  int FindOnManyThreads(const ApiResponse& response) {
    std::latch start(kThreads);
    transport_.On("GET", "/api", [&](const ApiRequest&) {
      start.wait();
      for (int i = 0; i < 100; ++i)
        std::this_thread::yield();  // the other threads wait for this load
      return response;
    });
    std::atomic<int> found = 0;
    const auto find = [&] {
      start.count_down();
      try {
        if (mapper_.ForResource("deploy").kind == deployments_v1) ++found;
      } catch (const ApiError&) {  // not found
      }
    };
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kThreads; ++i) threads.emplace_back(find);
    }
    return found;
  }

  template <typename Call>
  static std::string NoMatchText(Call call) {
    try {
      call();
    } catch (const NoMatchError& error) {
      return error.what();
    }
    return "no NoMatchError";
  }

  static constexpr int kThreads = 4;
  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  RestMapper mapper_{transport_, clock_};
};

TEST_F(RestMapperTest, TheConstructorSendsNoRequestAndLaterCallsShareOneLoad) {
  EXPECT_EQ(transport_.Requests().size(), 0);

  (void)mapper_.ForKind("apps", "Deployment");
  (void)mapper_.ForResource("pods");

  EXPECT_EQ(Loads(), 1);
}

TEST_F(RestMapperTest, ForKindReturnsTheVersionThatTheServerPrefers) {
  const ApiResource resource = mapper_.ForKind("apps", "Deployment");

  EXPECT_EQ(resource.kind, deployments_v1);
  EXPECT_TRUE(resource.HasSubresource("scale"));
}

TEST_F(RestMapperTest, ForKindReturnsAnotherVersionIfThePreferredOneLacksTheKind) {
  EXPECT_EQ(mapper_.ForKind("apps", "Rollback").kind,
            OwningKind({"apps/v1beta1", "Rollback", "rollbacks"}));
}

TEST_F(RestMapperTest, ForKindReturnsTheRequestedVersion) {
  EXPECT_EQ(mapper_.ForKind("apps", "Deployment", "v1beta1").kind,
            OwningKind({"apps/v1beta1", "Deployment", "deployments"}));
}

TEST_F(RestMapperTest, ForResourceUnderstandsTheArgumentsOfKubectl) {
  for (const std::string text :
       {"deployments", "deployment", "deploy", "Deployments", "deployments.apps", "deploy.apps",
        "deployments.v1.apps", "deploy.v1.apps"}) {
    EXPECT_EQ(mapper_.ForResource(text).kind, deployments_v1) << text;
  }
  EXPECT_EQ(mapper_.ForResource("deployments.v1beta1.apps").kind.api_version, "apps/v1beta1");
  EXPECT_EQ(mapper_.ForResource("pods.v1.").kind.api_version, "v1");
}

TEST_F(RestMapperTest, ForResourceReadsTheTextOfAnOwningKind) {
  for (const OwningKind& kind :
       {deployments_v1, OwningKind({"v1", "Node", "nodes", Scope::kCluster})}) {
    EXPECT_EQ(mapper_.ForResource(kind.ToString()).kind, kind);
  }
}

TEST_F(RestMapperTest, AResourceOfSeveralGroupsIsThatOfTheFirstGroup) {
  EXPECT_EQ(mapper_.ForResource("pods").kind.kind, "Pod");
  EXPECT_EQ(mapper_.ForResource("pods.metrics.k8s.io").kind.kind, "PodMetrics");
}

TEST_F(RestMapperTest, AFullNameHasPrecedenceOverTheShortNameOfAnEarlierResource) {
  transport_.Respond("GET", "/apis", 200, R"({"kind":"APIGroupDiscoveryList","items":[
      {"metadata":{"name":"g"},"versions":[{"version":"v1","resources":[
      {"resource":"longs","responseKind":{"kind":"Long"},"shortNames":["short"]},
      {"resource":"short","responseKind":{"kind":"Short"}}]}]}]})");

  EXPECT_EQ(mapper_.ForResource("short").kind.kind, "Short");
}

TEST_F(RestMapperTest, ForResourceFindsTheSingularNameAndTheKindInLowerCase) {
  transport_.Respond("GET", "/apis", 200, R"({"kind":"APIGroupDiscoveryList","items":[
      {"metadata":{"name":"g"},"versions":[{"version":"v1","resources":[
      {"resource":"mice","responseKind":{"kind":"Rodent"},"singularResource":"mouse"},
      {"resource":"oldies","responseKind":{"kind":"Oldie"}}]}]}]})");

  EXPECT_EQ(mapper_.ForResource("mouse").kind.kind, "Rodent");
  EXPECT_EQ(mapper_.ForResource("oldie").kind.kind, "Oldie") << "as of servers before 1.27";
}

TEST_F(RestMapperTest, PreferredVersionIsTheFirstVersionOfTheGroup) {
  EXPECT_EQ(mapper_.PreferredVersion("apps"), "v1");
  EXPECT_EQ(mapper_.PreferredVersion(""), "v1");
  EXPECT_THROW((void)mapper_.PreferredVersion("foo.example.com"), NoMatchError);
}

TEST_F(RestMapperTest, AnUnknownKindIsFoundAfterItsInstallation) {
  (void)mapper_.ForResource("pods");
  InstallFoo();
  clock_.Advance(RestMapper::kMinReloadInterval);

  EXPECT_EQ(mapper_.ForKind("foo.example.com", "Foo").kind,
            OwningKind({"foo.example.com/v1", "Foo", "foos"}));
  EXPECT_EQ(Loads(), 2);
}

TEST_F(RestMapperTest, UnknownKindsAskTheServerOnceInTheReloadInterval) {
  EXPECT_THROW((void)mapper_.ForResource("foos"), NoMatchError);
  InstallFoo();
  clock_.Advance(RestMapper::kMinReloadInterval - 1ns);
  EXPECT_THROW((void)mapper_.ForResource("foos"), NoMatchError);
  EXPECT_THROW((void)mapper_.ForKind("foo.example.com", "Foo"), NoMatchError);
  EXPECT_EQ(Loads(), 1);

  clock_.Advance(1ns);

  EXPECT_EQ(mapper_.ForResource("foos").kind.kind, "Foo");
  EXPECT_EQ(Loads(), 2);
}

TEST_F(RestMapperTest, AFailedLoadIsRepeatedOnceInTheReloadInterval) {
  transport_.Respond("GET", "/api", 500, "{}");
  EXPECT_THROW((void)mapper_.ForResource("pods"), ApiError);
  transport_.Respond("GET", "/api", 200, kAggregatedCore);
  clock_.Advance(RestMapper::kMinReloadInterval - 1ns);
  EXPECT_THROW((void)mapper_.ForResource("pods"), ApiError);
  EXPECT_EQ(RequestsFor("/api"), 1);

  clock_.Advance(1ns);

  EXPECT_EQ(mapper_.ForResource("pods").kind.kind, "Pod");
}

TEST_F(RestMapperTest, KnownKindsStayKnownIfTheServerFails) {
  (void)mapper_.ForResource("pods");
  clock_.Advance(RestMapper::kMinReloadInterval);
  transport_.Respond("GET", "/api", 500, "{}");

  EXPECT_THROW((void)mapper_.ForResource("foos"), ApiError);
  EXPECT_THROW((void)mapper_.ForResource("foos"), ApiError) << "the failure of the last load";
  EXPECT_EQ(mapper_.ForResource("pods").kind.kind, "Pod");
  EXPECT_EQ(RequestsFor("/api"), 2);
}

TEST_F(RestMapperTest, TheKindsOfAGroupStayKnownIfItCannotBeReadAgain) {
  (void)mapper_.ForResource("pods");
  transport_.Respond("GET", "/apis", 200, kAggregatedGroupsWithoutMetrics);
  clock_.Advance(RestMapper::kMinReloadInterval);
  EXPECT_THROW((void)mapper_.ForResource("foos"), NoMatchError);

  EXPECT_EQ(mapper_.ForKind("metrics.k8s.io", "PodMetrics").kind.plural, "pods");
  EXPECT_THROW((void)mapper_.ForKind("apps", "Rollback"), NoMatchError) << "removed by the server";
}

TEST_F(RestMapperTest, AnUnknownKindIsAnErrorThatNamesTheServedOnesOrTheRemedy) {
  EXPECT_EQ(NoMatchText([&] { (void)mapper_.ForKind("foo.example.com", "Foo"); }),
            "the API server does not serve kind Foo of group foo.example.com: install its "
            "CustomResourceDefinition with kubectl apply, or correct the name");
  EXPECT_EQ(
      NoMatchText([&] { (void)mapper_.ForKind("apps", "Deployment", "v9"); }),
      "the API server does not serve kind Deployment in version v9 of group apps; use a version "
      "or group that it serves: deployments.v1.apps, deployments.v1beta1.apps");
  EXPECT_EQ(
      NoMatchText([&] { (void)mapper_.ForResource("nodes.v2."); }),
      "the API server does not serve the resource \"nodes.v2.\"; use a version or group that it "
      "serves: nodes.v1.");
}

TEST_F(RestMapperTest, AnUnknownKindIsAnErrorThatNamesTheGroupsThatCannotBeRead) {
  transport_.Respond("GET", "/apis", 200, kAggregatedGroupsWithoutMetrics);

  EXPECT_THAT(NoMatchText([&] { (void)mapper_.ForKind("metrics.k8s.io", "PodMetrics"); }),
              HasSubstr("the resources of metrics.k8s.io/v1beta1 may be incomplete: the server of "
                        "this aggregated API does not respond"));
}

TEST_F(RestMapperTest, AStopCancelsTheLoad) {
  std::stop_source stop;
  stop.request_stop();
  RestMapper mapper(transport_, clock_, stop.get_token());

  EXPECT_THROW((void)mapper.ForResource("pods"), TransportError);
}

TEST_F(RestMapperTest, ThreadsThatCallAtTheSameTimeShareOneLoad) {
  EXPECT_EQ(FindOnManyThreads({.status = 200, .body = kAggregatedCore}), kThreads);
  EXPECT_EQ(Loads(), 1);
}

TEST_F(RestMapperTest, ThreadsThatCallAtTheSameTimeShareOneFailedLoad) {
  EXPECT_EQ(FindOnManyThreads({.status = 500, .body = "{}"}), 0);
  EXPECT_EQ(RequestsFor("/api"), 1);
}

TEST_F(RestMapperTest, ClientCallsTakeTheKindOfAResource) {
  transport_.Respond("GET", "/apis/apps/v1/namespaces/shop/deployments/web", 200,
                     R"({"metadata":{"name":"web"}})");
  const Client client(transport_);

  const OwningKind deployments = mapper_.ForResource("deploy").kind;

  EXPECT_EQ(client.Dynamic(deployments).Get({"shop", "web"})->metadata.name, "web");
}

}  // namespace
}  // namespace kopp
