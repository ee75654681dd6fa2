#include "controller/controller_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

TEST_F(ControllerTest, AChangeOfAnOwnedObjectReconcilesItsOwner) {
  SetPods({PodJson("a")});
  manager_.AddController<Pod>().Owns<Deployment>().Reconcile([this](const Pod& pod, Context&) {
    RecordCall(pod.metadata.name);
    return Result{};
  });
  Start();
  AwaitCalls(1);
  transport_->Await("WATCH", kDeployments);

  transport_->SendToWatch(kDeployments,
                          R"({"type":"ADDED","object":{"kind":"Deployment","apiVersion":"apps/v1",
      "metadata":{"name":"d","namespace":"ns","resourceVersion":"6","ownerReferences":
      [{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u-a","controller":true}]}}})");

  EXPECT_THAT(AwaitCalls(2), ElementsAre("a", "a"));
}

TEST_F(ControllerTest, AChangeOfAWatchedObjectReconcilesTheMappedKeys) {
  SetPods({PodJson("a")});
  manager_.AddController<Pod>()
      .Watches<Deployment>([](const Deployment& deployment) {
        return std::vector<ObjectKey>{{deployment.metadata.ns, "a"}};
      })
      .Reconcile([this](const Pod& pod, Context&) {
        RecordCall(pod.metadata.name);
        return Result{};
      });
  Start();
  AwaitCalls(1);
  transport_->Await("WATCH", kDeployments);

  transport_->SendToWatch(kDeployments,
                          R"({"type":"ADDED","object":{"kind":"Deployment","apiVersion":"apps/v1",
      "metadata":{"name":"d","namespace":"ns","resourceVersion":"6"}}})");

  EXPECT_THAT(AwaitCalls(2), ElementsAre("a", "a"));
}

TEST_F(ControllerTest, WhereAfterAddControllerFiltersTheEventsOfThePrimaryKind) {
  manager_.AddController<Pod>()
      .Where(GenerationChanged())
      .Owns<Deployment>()
      .Reconcile([this](const Pod& pod, Context&) {
        RecordCall(pod.metadata.name);
        return Result{};
      });
  Start();
  transport_->Await("WATCH", kPods);
  SendPodEvent("ADDED", PodJson("a", R"(,"generation":1)"));
  EXPECT_THAT(AwaitCalls(1), ElementsAre("a"));

  SendPodEvent("MODIFIED", PodJson("a", R"(,"generation":1)"));
  SendPodEvent("ADDED", PodJson("b"));
  EXPECT_THAT(AwaitCalls(2), ElementsAre("a", "b"));
  SendPodEvent("MODIFIED", PodJson("a", R"(,"generation":2)"));

  EXPECT_THAT(AwaitCalls(3), ElementsAre("a", "b", "a"));
}

TEST_F(ControllerTest, WhereAfterOwnsFiltersTheEventsOfTheOwnedKind) {
  SetPods({PodJson("a"), PodJson("b")});
  manager_.AddController<Pod>()
      .Owns<Deployment>()
      .Where(GenerationChanged())
      .Where(PredicateOf<MetadataOnly<Deployment>>(
          [](const auto& deployment) { return deployment.metadata.name != "ignored"; }))
      .Reconcile([this](const Pod& pod, Context&) {
        RecordCall(pod.metadata.name);
        return Result{};
      });
  const auto send_deployment = [this](const std::string& type, const std::string& name,
                                      const std::string& owner) {
    transport_->SendToWatch(kDeployments,
                            R"({"type":")" + type +
                                R"(","object":{"kind":"Deployment","apiVersion":"apps/v1",
        "metadata":{"name":")" + name +
                                R"(","namespace":"ns","uid":"u","resourceVersion":"6",
        "generation":1,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":")" +
                                owner + R"(","uid":"u","controller":true}]}}})" + "\n");
  };
  Start();
  AwaitCalls(2);
  transport_->Await("WATCH", kDeployments);

  send_deployment("ADDED", "d", "a");
  AwaitCalls(3);
  send_deployment("MODIFIED", "d", "a");
  send_deployment("ADDED", "ignored", "a");
  send_deployment("ADDED", "e", "b");

  EXPECT_THAT(AwaitCalls(4), ElementsAre("a", "b", "a", "b"));
}

TEST_F(ControllerTest, WhereThrowsForAPredicateOfAnotherView) {
  auto builder = manager_.AddController<Pod>();

  EXPECT_THROW(builder.Where(PredicateOf<Deployment>([](const Deployment&) { return true; })),
               std::logic_error);
}

TEST_F(ControllerTest, AKindThatIsOnlyKnownAtRunTimeCanBeOwned) {
  SetPods({PodJson("a")});
  const OwningKind deployments = Deployment::kKind;
  manager_.AddController<Pod>().Owns(deployments).Reconcile([this](const Pod& pod, Context&) {
    RecordCall(pod.metadata.name);
    return Result{};
  });
  Start();
  AwaitCalls(1);
  transport_->Await("WATCH", kDeployments);

  transport_->SendToWatch(kDeployments,
                          R"({"type":"ADDED","object":{"kind":"Deployment","apiVersion":"apps/v1",
      "metadata":{"name":"d","namespace":"ns","resourceVersion":"6","ownerReferences":
      [{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u-a","controller":true}]}}})");

  EXPECT_THAT(AwaitCalls(2), ElementsAre("a", "a"));
  EXPECT_EQ(manager_.cache().ListMetadata(deployments).size(), 1);
}

TEST_F(ControllerTest, AKindThatIsOnlyKnownAtRunTimeCanBeWatched) {
  SetPods({PodJson("a")});
  manager_.AddController<Pod>()
      .Watches(Deployment::kKind,
               [](const Unstructured& deployment) {
                 return std::vector<ObjectKey>{{"ns", deployment.At("/spec/pod")}};
               })
      .Reconcile([this](const Pod& pod, Context&) {
        RecordCall(pod.metadata.name);
        return Result{};
      });
  Start();
  AwaitCalls(1);
  transport_->Await("WATCH", kDeployments);

  transport_->SendToWatch(kDeployments,
                          R"({"type":"ADDED","object":{"kind":"Deployment","apiVersion":"apps/v1",
      "metadata":{"name":"d","namespace":"ns","resourceVersion":"6"},"spec":{"pod":"a"}}})");

  EXPECT_THAT(AwaitCalls(2), ElementsAre("a", "a"));
}

TEST_F(ControllerTest, TwoControllersOfOneKindShareItsInformer) {
  SetPods({PodJson("a")});
  for (const std::string name : {"first", "second"}) {
    manager_.AddController<Pod>({.name = name}).Reconcile([this, name](const Pod& pod, Context&) {
      RecordCall(name + " " + pod.metadata.name);
      return Result{};
    });
  }
  Start();
  AwaitCalls(2);
  transport_->Await("WATCH", kPods);
  SendPodEvent("ADDED", PodJson("b"));

  EXPECT_THAT(AwaitCalls(4), UnorderedElementsAre("first a", "second a", "first b", "second b"));
  Stop();
  const auto lists_pods = [](const ApiRequest& request) {
    return request.target.starts_with(kPods) &&
           request.target.find("watch=true") == std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(transport_->Requests(), lists_pods), 1);
}

TEST_F(ControllerTest, EachObjectIsReconciledAgainAtEachResync) {
  SetPods({PodJson("a")});
  Controller& controller =
      manager_.AddController<Pod>({.sync_period = 30s}).Reconcile([this](const Pod& pod, Context&) {
        RecordCall(pod.metadata.name);
        return Result{};
      });
  Start();
  AwaitCalls(1);

  AdvanceUntilCalls(controller, 3, 10s);

  EXPECT_GE(clock_.Now() - TimePoint{}, 60s);
}

}  // namespace
}  // namespace kopp
