#include "manager_fixture.hpp"

#include <atomic>
#include <barrier>
#include <chrono>
#include <latch>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ControllerTest : public ManagerTest {};

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

TEST_F(ControllerTest, AnExceptionIsLoggedAndRetriedWithADelayThatDoubles) {
  SetPods({PodJson("a")});
  std::vector<TimePoint> calls;
  manager_.AddController<Pod>({.name = "pods"}).Reconcile([&](const Pod&, Context&) -> Result {
    calls.push_back(clock_.Now());
    RecordCall("call");
    if (calls.size() == 1) throw std::runtime_error("disk full");
    if (calls.size() == 2) throw 42;  // NOLINT: not a std::exception
    return {};
  });
  Start();
  AwaitCalls(1);
  AdvanceUntilCalls(3, 1ms);
  Stop();

  EXPECT_GE(calls[1] - calls[0], 5ms);
  EXPECT_GE(calls[2] - calls[1], 10ms);
  EXPECT_THAT(LogText(), HasSubstr("\"Reconciler error\" controller=\"pods\" object=\"ns/a\" "
                                   "err=\"disk full\""));
  EXPECT_THAT(LogText(), HasSubstr("an object that is not a std::exception"));
}

TEST_F(ControllerTest, ATerminalErrorIsLoggedAndNotRetriedUntilTheObjectChanges) {
  SetPods({PodJson("a")});
  manager_.AddController<Pod>().Reconcile([this](const Pod& pod, Context&) -> Result {
    RecordCall(pod.metadata.name);
    if (pod.metadata.name == "a") throw TerminalError("invalid spec");
    return {};
  });
  Start();
  AwaitCalls(1);
  SendPodEvent("ADDED", PodJson("b"));
  AwaitCalls(2);  // the worker has finished handling the exception
  for (int i = 0; i < 5; ++i) {
    AwaitIdle();
    clock_.Advance(10s);
  }
  SendPodEvent("ADDED", PodJson("c"));
  EXPECT_THAT(AwaitCalls(3), ElementsAre("a", "b", "c"));
  EXPECT_THAT(LogText(), HasSubstr("not retried until the object changes"));

  SendPodEvent("MODIFIED", PodJson("a"));
  EXPECT_THAT(AwaitCalls(4), ElementsAre("a", "b", "c", "a"));
}

TEST_F(ControllerTest, RequeueAfterReconcilesAgainAfterTheDelay) {
  SetPods({PodJson("a")});
  std::vector<TimePoint> calls;
  manager_.AddController<Pod>().Reconcile([&](const Pod&, Context&) -> Result {
    calls.push_back(clock_.Now());
    RecordCall("call");
    return {.requeue_after = 5s};
  });
  Start();
  AwaitCalls(1);
  AdvanceUntilCalls(2, 1s);
  Stop();

  EXPECT_GE(calls[1] - calls[0], 5s);
}

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
      .Where(PredicateOf<Deployment>(
          [](const Deployment& deployment) { return deployment.metadata.name != "ignored"; }))
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
  const KindRef deployments = Deployment::kKind;
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

TEST_F(ControllerTest, EachObjectIsReconciledAgainAtEachResync) {
  SetPods({PodJson("a")});
  manager_.AddController<Pod>({.resync = 30s}).Reconcile([this](const Pod& pod, Context&) {
    RecordCall(pod.metadata.name);
    return Result{};
  });
  Start();
  AwaitCalls(1);

  AdvanceUntilCalls(3, 10s);

  EXPECT_GE(clock_.Now() - TimePoint{}, 60s);
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
}

TEST_F(ControllerTest, ChangesAreReconciledBeforeObjectsOfTheInitialList) {
  SetPods({PodJson("a"), PodJson("b"), PodJson("c")});
  manager_.AddController<Pod>().Reconcile([&](const Pod& pod, Context& context) {
    RecordCall(pod.metadata.name);
    while (!context.cache.Get<Pod>({"ns", "after live"})) std::this_thread::yield();
    return Result{};
  });
  Start();
  transport_->Await("WATCH", kPods);
  AwaitCalls(1);
  SendPodEvent("ADDED", PodJson("live"));
  SendPodEvent("ADDED", PodJson("after live"));  // if the cache has it, "live" is queued

  EXPECT_EQ(AwaitCalls(5)[1], "live");
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
}

TEST_F(ControllerTest, AKeyIsNotRetriedBeforeTheRetryAfterOfAnApiError) {
  SetPods({PodJson("a")});
  std::vector<TimePoint> calls;
  manager_.AddController<Pod>().Reconcile([&](const Pod&, Context&) -> Result {
    calls.push_back(clock_.Now());
    RecordCall("call");
    if (calls.size() == 1) throw ApiError::FromBody("GET /x", 429, "", 30s);
    if (calls.size() == 2) throw ApiError::FromBody("GET /x", 503, "", 1h);
    return {};
  });
  Start();
  AwaitCalls(1);
  AdvanceUntilCalls(3, 1s);
  Stop();

  EXPECT_GE(calls[1] - calls[0], 30s);
  EXPECT_GE(calls[2] - calls[1], 1min);
  EXPECT_LT(calls[2] - calls[1], 30min) << "the maximum is 1 min; the test's clock may run ahead";
}

TEST_F(ControllerTest, AServerThatRejectsCallsGetsOneCallPerKeyUntilItsRetryAfter) {
  constexpr std::size_t kKeys = 20;
  constexpr const char* kShared = "/api/v1/namespaces/ns/pods/shared";
  std::vector<std::string> pods;
  for (std::size_t i = 0; i < kKeys; ++i) pods.push_back(PodJson("pod-" + std::to_string(i)));
  SetPods(pods);
  transport_->On("PATCH", kShared,
                 [](const Request&) { return Response{.status = 429, .retry_after = 30s}; });
  manager_.AddController<Pod>().Reconcile([&](const Pod&, Context& context) -> Result {
    RecordCall("call");
    (void)context.client.Patch(Pod::kKind, {"ns", "shared"}, Patch{.text = "{}"});
    return {};
  });
  Start();
  transport_->Await("PATCH", kShared, kKeys);
  for (int second = 0; second < 29; ++second) {
    AwaitIdle();
    clock_.Advance(1s);
  }
  AwaitIdle();
  EXPECT_EQ(transport_->Await("PATCH", kShared, kKeys).size(), kKeys);

  AdvanceUntilCalls(2 * kKeys, 1s);
}

TEST_F(ControllerTest, AfterARateLimiterExceptionTheKeyIsRetriedAfterOneSecond) {
  class Thrower final : public workqueue::RateLimiter<ObjectKey> {
   public:
    Duration When(const ObjectKey&) override {
      if (++calls_ == 1) throw std::runtime_error("limiter broken");
      throw 42;  // NOLINT: not a std::exception
    }
    void Forget(const ObjectKey&) override {}
    int NumRequeues(const ObjectKey&) override { return 0; }

   private:
    int calls_ = 0;
  };
  SetPods({PodJson("a")});
  int calls = 0;
  manager_.AddController<Pod>({.limiter = std::make_unique<Thrower>()})
      .Reconcile([&](const Pod&, Context&) -> Result {
        RecordCall("call");
        if (++calls <= 2) throw std::runtime_error("try again");
        return {};
      });
  Start();
  AwaitCalls(1);

  AdvanceUntilCalls(3, 100ms);

  EXPECT_GE(clock_.Now() - TimePoint{}, 2s);
  EXPECT_THAT(LogText(), HasSubstr("limiter broken"));
  EXPECT_THAT(LogText(), HasSubstr("the rate limiter threw an object that is not"));
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
