#include "foo_reconciler.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace sample {
namespace {

using kopp::Request;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";
constexpr const char* kStatus =
    "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/foo/status";

/// Reconciles one Foo against a cache with the Deployments of the test, and keeps what was written.
class FooReconcilerTest : public ::testing::Test {
 protected:
  FooReconcilerTest() {
    foo_.metadata.name = "foo";
    foo_.metadata.ns = "default";
    foo_.metadata.uid = "foo-uid";
    foo_.spec.deploymentName = "web";
    foo_.spec.replicas = 1;
    Answer("POST", kDeployments, 201);
    Answer("PUT", std::string(kDeployments) + "/web", 200);
    transport_.Reply("PATCH", kStatus, 200, "{}");
    transport_.Reply("POST", "/api/v1/namespaces/default/events", 201, "{}");
  }

  /// Writes of the Deployment are answered with what was written.
  void Answer(const std::string& method, const std::string& path, int status) {
    transport_.On(method, path, [status](const Request& request) {
      return kopp::Response{.status = status, .body = request.body};
    });
  }
  json OwnedDeployment() const {
    return {{"metadata",
             {{"name", "web"},
              {"namespace", "default"},
              {"ownerReferences", json::array({{{"apiVersion", "samplecontroller.k8s.io/v1alpha1"},
                                                {"kind", "Foo"},
                                                {"name", "foo"},
                                                {"uid", "foo-uid"},
                                                {"controller", true}}})}}},
            {"spec", {{"replicas", 1}}},
            {"status", {{"availableReplicas", 0}}}};
  }
  void InCache(const json& deployment) { cached_.push_back(deployment); }

  void Reconcile() {
    const json list{
        {"kind", "DeploymentList"}, {"metadata", {{"resourceVersion", "1"}}}, {"items", cached_}};
    transport_.Reply("GET", "/apis/apps/v1/deployments", 200, list.dump());
    kopp::Cache cache{transport_, "", log_, clock_};
    cache.InformerFor<kopp::Deployment>();
    cache.Start();
    cache.WaitForSync({});
    kopp::Context context{kopp::KeyOf(foo_), client_, cache, events_, log_, {}};
    const auto record = [&] { events_.Stop(); };
    try {
      ReconcileFoo(foo_, context);
    } catch (...) {
      record();
      throw;
    }
    record();
  }

  /// "METHOD path" of each write but Events, in order.
  std::vector<std::string> Writes() {
    std::vector<std::string> writes;
    for (const Request& request : transport_.Requests()) {
      const bool event = request.target.find("/events") != std::string::npos;
      if (request.method == "GET" || request.method == "WATCH" || event) continue;
      writes.push_back(request.method + " " + request.target.substr(0, request.target.find('?')));
    }
    return writes;
  }
  json Body(const std::string& method) {
    for (const Request& request : transport_.Requests()) {
      if (request.method == method) return json::parse(request.body);
    }
    return nullptr;
  }
  /// "Type Reason: message" of each Event.
  std::vector<std::string> Events() {
    std::vector<std::string> events;
    for (const Request& request : transport_.Requests()) {
      if (request.target.find("/events") == std::string::npos) continue;
      const json event = json::parse(request.body);
      events.push_back(event["type"].get<std::string>() + " " + event["reason"].get<std::string>() +
                       ": " + event["message"].get<std::string>());
    }
    return events;
  }

  kopp::testing::FakeClock clock_;
  kopp::testing::ScriptedTransport transport_{clock_};
  kopp::Logger log_{{.write = [](std::string_view) {}}};
  kopp::Client client_{transport_, "sample-controller"};
  kopp::EventRecorder events_{client_, "sample-controller", log_, clock_};
  Foo foo_;
  json cached_ = json::array();
};

TEST_F(FooReconcilerTest, AFooWithoutADeploymentGetsOneAndThenItsStatus) {
  Reconcile();

  EXPECT_THAT(Writes(),
              ElementsAre(std::string("POST ") + kDeployments, std::string("PATCH ") + kStatus));
  EXPECT_THAT(Events(), ElementsAre("Normal Synced: Foo synced successfully"));
}

TEST_F(FooReconcilerTest, TheDeploymentIsExactlyWhatTheFooAsksFor) {
  foo_.spec.replicas = 3;
  Reconcile();

  EXPECT_EQ(Body("POST"), json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment",
      "metadata":{"name":"web","namespace":"default","ownerReferences":[
        {"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo","name":"foo","uid":"foo-uid",
         "controller":true,"blockOwnerDeletion":true}]},
      "spec":{"replicas":3,
        "selector":{"matchLabels":{"app":"nginx","controller":"foo"}},
        "template":{"metadata":{"labels":{"app":"nginx","controller":"foo"}},
                    "spec":{"containers":[{"name":"nginx","image":"nginx:latest"}]}}}})"));
}

TEST_F(FooReconcilerTest, AFooThatSaysNoReplicasLeavesThemToTheServer) {
  foo_.spec.replicas.reset();
  Reconcile();

  EXPECT_FALSE(Body("POST")["spec"].contains("replicas"));
}

TEST_F(FooReconcilerTest, ADeploymentThatIsAsItShouldBeIsLeftAlone) {
  InCache(OwnedDeployment());
  Reconcile();

  EXPECT_THAT(Writes(), ElementsAre(std::string("PATCH ") + kStatus));
}

TEST_F(FooReconcilerTest, AStatusThatStandsAlreadyIsNotWrittenAgain) {
  InCache(OwnedDeployment());
  foo_.status.availableReplicas = 0;
  Reconcile();

  EXPECT_THAT(Writes(), IsEmpty());
  EXPECT_THAT(Events(), ElementsAre("Normal Synced: Foo synced successfully"));
}

TEST_F(FooReconcilerTest, TheStatusFollowsTheDeploymentsAndHoldsForThisVeryFoo) {
  json deployment = OwnedDeployment();
  deployment["status"]["availableReplicas"] = 1;
  InCache(deployment);
  foo_.status.availableReplicas = 0;
  Reconcile();

  EXPECT_EQ(Body("PATCH"),
            json::parse(R"({"metadata":{"uid":"foo-uid"},"status":{"availableReplicas":1}})"));
}

TEST_F(FooReconcilerTest, AnotherNumberOfReplicasIsWrittenAsAWholeDeployment) {
  InCache(OwnedDeployment());
  foo_.spec.replicas = 2;
  Reconcile();

  EXPECT_THAT(Writes(), ElementsAre(std::string("PUT ") + kDeployments + "/web",
                                    std::string("PATCH ") + kStatus));
  EXPECT_EQ(Body("PUT")["spec"]["replicas"], 2);
  EXPECT_FALSE(Body("PUT")["metadata"].contains("resourceVersion"));
}

TEST_F(FooReconcilerTest, ADeploymentWithoutReplicasHasOne) {
  json deployment = OwnedDeployment();
  deployment["spec"].erase("replicas");
  InCache(deployment);
  foo_.status.availableReplicas = 0;
  Reconcile();

  EXPECT_THAT(Writes(), IsEmpty());
}

TEST_F(FooReconcilerTest, AForeignDeploymentIsLeftAloneAndAnEventSaysSo) {
  json foreign = OwnedDeployment();
  foreign["metadata"].erase("ownerReferences");
  InCache(foreign);

  EXPECT_THROW(Reconcile(), std::runtime_error);

  EXPECT_THAT(Writes(), IsEmpty());
  EXPECT_THAT(Events(),
              ElementsAre("Warning ErrResourceExists: Resource \"web\" already exists and is not "
                          "managed by Foo"));
}

TEST_F(FooReconcilerTest, TheDeploymentOfANamesakeThatCameBeforeIsForeign) {
  json old = OwnedDeployment();
  old["metadata"]["ownerReferences"][0]["uid"] = "of the Foo before";
  InCache(old);

  EXPECT_THROW(Reconcile(), std::runtime_error);
  EXPECT_THAT(Writes(), IsEmpty());
}

TEST_F(FooReconcilerTest, AFooThatNamesNoDeploymentIsNotTriedAgain) {
  foo_.spec.deploymentName.clear();

  EXPECT_NO_THROW(Reconcile());

  EXPECT_THAT(Writes(), IsEmpty());
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(FooReconcilerTest, ADeploymentThatTheCacheDoesNotKnowYetIsTriedAgain) {
  transport_.Reply("POST", kDeployments, 409, R"({"reason":"AlreadyExists"})");

  EXPECT_THROW(Reconcile(), kopp::ApiError);
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(FooReconcilerTest, AStatusThatCannotBeWrittenForWantOfItsPathIsSaidAndTriedAgain) {
  InCache(OwnedDeployment());
  transport_.Reply("PATCH", kStatus, 404, R"({"reason":"NotFound","details":{"name":"foo"}})");

  try {
    Reconcile();
    FAIL() << "it returned";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("install crd-status-subresource.yaml"));
  }
  EXPECT_THAT(Events(), IsEmpty());
}

}  // namespace
}  // namespace sample
