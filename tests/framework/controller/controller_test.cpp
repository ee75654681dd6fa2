#include "controller/controller_fixture.hpp"

#include <atomic>
#include <barrier>
#include <latch>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer_set.hpp>
#include <kopp/kinds.hpp>
#include <kopp/owner.hpp>
#include <kopp/workqueue/order.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kDeploymentsOfNs = "/apis/apps/v1/namespaces/ns/deployments";
constexpr const char* kUnwatchedWrites = "does not see their changes. Add .Owns<KIND>()";

/// Writes a Deployment that belongs to the Pod, twice.
Result CreateDeployments(const Pod& pod, Context& context) {
  const Deployment deployment{.metadata = OwnedBy(pod, pod.metadata.name)};
  context.client.Create(deployment);
  context.client.Create(deployment);
  return {};
}

/// Tests the checks of the objects that reconciles write.
class WrittenOwnersTest : public ControllerTest {
 protected:
  WrittenOwnersTest() {
    SetPods({PodJson("a")});
    transport_->Respond("POST", kDeploymentsOfNs, 201, "{}");
  }
  std::ptrdiff_t CountInLog(const std::string& text) {
    const std::string log = LogText();
    std::ptrdiff_t count = 0;
    for (auto at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++count;
    return count;
  }
};

TEST_F(WrittenOwnersTest, AWriteOfAnOwnedObjectWhoseKindIsNotWatchedIsLoggedOnce) {
  manager_.AddController<Pod>().Reconcile(CreateDeployments);
  Start();
  transport_->Await("POST", kDeploymentsOfNs, 2);
  AwaitLog(kUnwatchedWrites);
  Stop();

  EXPECT_EQ(CountInLog(kUnwatchedWrites), 1);
  EXPECT_THAT(LogText(), HasSubstr("controllerKind=\"Pod\" kind=\"Deployment\""));
}

TEST_F(WrittenOwnersTest, AWriteOfAnOwnedObjectIsNotLoggedIfItsKindIsOwned) {
  manager_.AddController<Pod>().Owns<Deployment>().Reconcile(CreateDeployments);
  Start();
  transport_->Await("POST", kDeploymentsOfNs, 2);
  Stop();

  EXPECT_EQ(CountInLog(kUnwatchedWrites), 0);
}

TEST_F(WrittenOwnersTest, AWriteOfAnOwnedObjectIsNotLoggedIfItsKindIsWatchedAtRunTime) {
  WatchHandle handle;
  Controller& controller = manager_.AddController<Pod>().Reconcile(CreateDeployments);
  handle = controller.Watch<Deployment>([](const Deployment&) { return std::vector<ObjectKey>{}; });
  Start();
  transport_->Await("POST", kDeploymentsOfNs, 2);
  Stop();

  EXPECT_EQ(CountInLog(kUnwatchedWrites), 0);
}

TEST_F(WrittenOwnersTest, AnObjectInAnotherNamespaceThanItsOwnerIsNotWritten) {
  manager_.AddController<Pod>().Owns<Deployment>().Reconcile([](const Pod& pod, Context& context) {
    Deployment deployment{.metadata = OwnedBy(pod, "web")};
    deployment.metadata.ns = "other";
    context.client.Apply(deployment);
    return Result{};
  });
  Start();
  AwaitLog("Pod ns/a cannot own other/web: an owner must be in the namespace of its object");
  Stop();

  for (const ApiRequest& request : transport_->Requests()) EXPECT_NE(request.method, "PATCH");
}

TEST_F(WrittenOwnersTest, APatchOfAnObjectInAnotherNamespaceThanItsOwnerIsNotWritten) {
  manager_.AddController<Pod>().Owns<Deployment>().Reconcile([](const Pod& pod, Context& context) {
    Deployment change;
    change.metadata.ownerReferences = OwnedBy(pod, "web").ownerReferences;
    context.client.Patch<Deployment>({"other", "web"}, Patch::Merge(change));
    return Result{};
  });
  Start();
  AwaitLog("Pod ns/a cannot own other/web: an owner must be in the namespace of its object");
  Stop();

  for (const ApiRequest& request : transport_->Requests()) EXPECT_NE(request.method, "PATCH");
}

TEST_F(WrittenOwnersTest, AClusterScopedObjectWithAnOwnerInANamespaceIsNotWritten) {
  manager_.AddController<Pod>().Reconcile([](const Pod& pod, Context& context) {
    Namespace object{.metadata = OwnedBy(pod, "web")};
    object.metadata.ns = "";
    context.client.Apply(object);
    return Result{};
  });
  Start();
  AwaitLog("Pod ns/a cannot own web: a cluster-scoped object cannot have an owner in a namespace");
  Stop();

  for (const ApiRequest& request : transport_->Requests()) EXPECT_NE(request.method, "PATCH");
}

TEST_F(ControllerTest, EachExistingObjectIsReconciledOnceAtStart) {
  SetPods({PodJson("a"), PodJson("b")});
  manager_.AddController<Pod>().Reconcile([this](const Pod& pod, Context&) {
    RecordCall(pod.metadata.name);
    return Result{};
  });
  Start();

  const auto reconciled = AwaitCalls(2);
  EXPECT_EQ(std::set<std::string>(reconciled.begin(), reconciled.end()),
            (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ControllerTest, TheCacheContainsTheChangeThatTriggeredAReconcile) {
  manager_.AddController<Pod>().Reconcile([this](const ObjectKey& key, Context& context) {
    RecordCall(key.ToString() + (context.cache.Get<Pod>(key) ? " exists" : " deleted"));
    return Result{};
  });
  Start();
  transport_->Await("WATCH", kPods);

  SendPodEvent("ADDED", PodJson("a"));
  EXPECT_THAT(AwaitCalls(1), ElementsAre("ns/a exists"));
  SendPodEvent("DELETED", PodJson("a"));
  EXPECT_THAT(AwaitCalls(2), ElementsAre("ns/a exists", "ns/a deleted"));
}

TEST_F(ControllerTest, AReconcilerOfObjectsIsNotCalledForADeletedObject) {
  manager_.AddController<Pod>().Reconcile([this](const Pod& pod, Context&) {
    RecordCall(pod.metadata.name);
    return Result{};
  });
  Start();
  transport_->Await("WATCH", kPods);

  SendPodEvent("ADDED", PodJson("a"));
  AwaitCalls(1);
  SendPodEvent("DELETED", PodJson("a"));
  SendPodEvent("ADDED", PodJson("b"));

  EXPECT_THAT(AwaitCalls(2), ElementsAre("a", "b"));
}

TEST_F(ControllerTest, AKeyChangedDuringItsReconcileIsReconciledOnceMoreAfterwards) {
  std::latch finish_first{1};
  std::atomic<bool> first{true};
  manager_.AddController<Pod>({.workers = 4}).Reconcile([&](const Pod& pod, Context&) {
    const bool is_first = first.exchange(false);  // before the test sends another event
    RecordCall(pod.metadata.name);
    if (is_first) finish_first.wait();
    return Result{};
  });
  Start();
  transport_->Await("WATCH", kPods);

  SendPodEvent("ADDED", PodJson("a"));
  EXPECT_THAT(AwaitCalls(1), ElementsAre("a"));
  SendPodEvent("MODIFIED", PodJson("a"));
  SendPodEvent("MODIFIED", PodJson("a"));
  SendPodEvent("ADDED", PodJson("b"));
  EXPECT_THAT(AwaitCalls(2), ElementsAre("a", "b"));
  SendPodEvent("ADDED", PodJson("c"));
  EXPECT_THAT(AwaitCalls(3), ElementsAre("a", "b", "c"));
  finish_first.count_down();
  EXPECT_THAT(AwaitCalls(4), ElementsAre("a", "b", "c", "a"));

  SendPodEvent("ADDED", PodJson("d"));
  EXPECT_THAT(AwaitCalls(5), ElementsAre("a", "b", "c", "a", "d"));
  Stop();
}

TEST_F(ControllerTest, ChangesAreReconciledBeforeObjectsOfTheInitialList) {
  SetPods({PodJson("a"), PodJson("b"), PodJson("c")});
  std::latch live_is_queued{1};
  manager_.AddController<Pod>().Reconcile([&](const Pod& pod, Context&) {
    RecordCall(pod.metadata.name);
    live_is_queued.wait();
    return Result{};
  });
  manager_.cache().InformerFor<Pod>().AddHandler(
      informer::EnqueueKey([&](const ObjectKey& key, int, const informer::KeyEvent&) {
        if (key.name == "after live") live_is_queued.count_down();
      }),
      {.delivery = informer::Delivery::kInformerThread});
  Start();
  transport_->Await("WATCH", kPods);
  AwaitCalls(1);
  SendPodEvent("ADDED", PodJson("live"));
  SendPodEvent("ADDED", PodJson("after live"));

  EXPECT_EQ(AwaitCalls(5)[1], "live");
  Stop();
}

TEST_F(ControllerTest, AFairOrderReconcilesTenantsInTurns) {
  using workqueue::Order;
  const auto tenant = [](const ObjectKey& key) { return key.name.substr(0, 1); };
  SetPods({PodJson("a1"), PodJson("a2"), PodJson("a3"), PodJson("b1")});
  std::latch start{1};
  manager_.AddController<Pod>({.order = Order::Fair<ObjectKey>({.tenant = tenant})})
      .Reconcile([&](const Pod& pod, Context&) {
        start.wait();
        RecordCall(pod.metadata.name);
        return Result{};
      });
  Start();
  transport_->Await("WATCH", kPods);
  start.count_down();

  const auto reconciled = AwaitCalls(4);
  EXPECT_NE(reconciled[3], "b1") << "b1 comes after at most two of the others";
  Stop();
}

TEST_F(ControllerTest, TheNumberOfConcurrentReconcilesIsTheNumberOfWorkers) {
  constexpr int kWorkers = 3;
  constexpr int kPods = 30;
  std::vector<std::string> pods;
  for (int i = 0; i < kPods; ++i) pods.push_back(PodJson("pod-" + std::to_string(i)));
  SetPods(pods);
  std::barrier all_running{kWorkers};
  std::atomic<int> running{0};
  std::atomic<bool> too_many{false};
  manager_.AddController<Pod>({.workers = kWorkers}).Reconcile([&](const Pod& pod, Context&) {
    if (++running > kWorkers) too_many = true;
    all_running.arrive_and_wait();
    if (running > kWorkers) too_many = true;
    all_running.arrive_and_wait();
    --running;
    RecordCall(pod.metadata.name);
    return Result{};
  });
  Start();

  AwaitCalls(kPods);
  EXPECT_FALSE(too_many);
  Stop();
}

TEST_F(ControllerTest, AnEventOfAReconcilerHasTheProgramNameAsItsComponent) {
  SetPods({PodJson("a")});
  transport_->Respond("POST", "/api/v1/namespaces/ns/events", 201, "{}");
  manager_.AddController<Pod>().Reconcile([](const Pod& pod, Context& context) {
    context.events.Normal(pod, "Seen", "hello");
    return Result{};
  });
  Start();

  EXPECT_THAT(transport_->Await("POST", "/api/v1/namespaces/ns/events").body,
              HasSubstr(R"("component":"test-operator")"));
}

}  // namespace
}  // namespace kopp
