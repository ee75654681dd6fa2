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

#include <kopp/kinds.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ControllerTest : public ManagerTest {};

TEST_F(ControllerTest, EachObjectThatIsThereAtStartIsReconciledOnce) {
  ListPods({PodText("a"), PodText("b")});
  manager_.AddController<Pod>().Reconcile([this](const Pod& pod, Context&) {
    Saw(pod.metadata.name);
    return Result{};
  });
  Start();

  const auto seen = AwaitSeen(2);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ControllerTest, AReconcilerFindsInTheCacheWhatMadeItRun) {
  manager_.AddController<Pod>().Reconcile([this](const ObjectKey& key, Context& context) {
    Saw(key.ToString() + (context.cache.Get<Pod>(key) ? " there" : " gone"));
    return Result{};
  });
  Start();
  transport_->Await("WATCH", kPods);

  Send("ADDED", PodText("a"));
  EXPECT_THAT(AwaitSeen(1), ElementsAre("ns/a there"));
  Send("DELETED", PodText("a"));
  EXPECT_THAT(AwaitSeen(2), ElementsAre("ns/a there", "ns/a gone"));
}

TEST_F(ControllerTest, AReconcilerOfObjectsIsNotCalledForOneThatIsGone) {
  manager_.AddController<Pod>().Reconcile([this](const Pod& pod, Context&) {
    Saw(pod.metadata.name);
    return Result{};
  });
  Start();
  transport_->Await("WATCH", kPods);

  Send("ADDED", PodText("a"));
  AwaitSeen(1);
  Send("DELETED", PodText("a"));
  Send("ADDED", PodText("b"));

  EXPECT_THAT(AwaitSeen(2), ElementsAre("a", "b"));
}

TEST_F(ControllerTest, AnythingThrownIsLoggedAndTriedAgainWithTwiceThePauseEachTime) {
  ListPods({PodText("a")});
  std::vector<TimePoint> calls;
  manager_.AddController<Pod>({.name = "pods"}).Reconcile([&](const Pod&, Context&) -> Result {
    calls.push_back(clock_.Now());
    Saw("call");
    if (calls.size() == 1) throw std::runtime_error("disk full");
    if (calls.size() == 2) throw 42;  // NOLINT: not even an exception
    return {};
  });
  Start();
  AwaitSeen(1);
  PassUntilSeen(3, 1ms);
  Stop();

  EXPECT_GE(calls[1] - calls[0], 5ms);
  EXPECT_GE(calls[2] - calls[1], 10ms);
  EXPECT_THAT(Logged(), HasSubstr("\"Reconciler error\" controller=\"pods\" object=\"ns/a\" "
                                  "err=\"disk full\""));
  EXPECT_THAT(Logged(), HasSubstr("no std::exception"));
}

TEST_F(ControllerTest, ATerminalErrorIsLoggedAndNotTriedAgainUntilTheObjectChanges) {
  ListPods({PodText("a")});
  manager_.AddController<Pod>().Reconcile([this](const Pod& pod, Context&) -> Result {
    Saw(pod.metadata.name);
    if (pod.metadata.name == "a") throw TerminalError("spec makes no sense");
    return {};
  });
  Start();
  AwaitSeen(1);
  Send("ADDED", PodText("b"));
  AwaitSeen(2);  // so what followed the throw is over
  for (int i = 0; i < 5; ++i) {
    AwaitQuiet();
    clock_.Advance(10s);
  }
  Send("ADDED", PodText("c"));
  EXPECT_THAT(AwaitSeen(3), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Logged(), HasSubstr("not tried again until the object changes"));

  Send("MODIFIED", PodText("a"));
  EXPECT_THAT(AwaitSeen(4), ElementsAre("a", "b", "c", "a"));
}

TEST_F(ControllerTest, ARequeueAfterRunsAgainWhenItsTimeHasCome) {
  ListPods({PodText("a")});
  std::vector<TimePoint> calls;
  manager_.AddController<Pod>().Reconcile([&](const Pod&, Context&) -> Result {
    calls.push_back(clock_.Now());
    Saw("call");
    return {.requeue_after = 5s};
  });
  Start();
  AwaitSeen(1);
  PassUntilSeen(2, 1s);
  Stop();

  EXPECT_GE(calls[1] - calls[0], 5s);
}

TEST_F(ControllerTest, AChangeOfAnOwnedObjectReconcilesItsOwner) {
  ListPods({PodText("a")});
  manager_.AddController<Pod>().Owns<Deployment>().Reconcile([this](const Pod& pod, Context&) {
    Saw(pod.metadata.name);
    return Result{};
  });
  Start();
  AwaitSeen(1);
  transport_->Await("WATCH", kDeployments);

  transport_->SendToWatch(kDeployments,
                          R"({"type":"ADDED","object":{"kind":"Deployment","apiVersion":"apps/v1",
      "metadata":{"name":"d","namespace":"ns","resourceVersion":"6","ownerReferences":
      [{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u-a","controller":true}]}}})");

  EXPECT_THAT(AwaitSeen(2), ElementsAre("a", "a"));
}

TEST_F(ControllerTest, AChangeOfAWatchedObjectReconcilesWhatTheMapNames) {
  ListPods({PodText("a")});
  manager_.AddController<Pod>()
      .Watches<Deployment>([](const Deployment& deployment) {
        return std::vector<ObjectKey>{{deployment.metadata.ns, "a"}};
      })
      .Reconcile([this](const Pod& pod, Context&) {
        Saw(pod.metadata.name);
        return Result{};
      });
  Start();
  AwaitSeen(1);
  transport_->Await("WATCH", kDeployments);

  transport_->SendToWatch(kDeployments,
                          R"({"type":"ADDED","object":{"kind":"Deployment","apiVersion":"apps/v1",
      "metadata":{"name":"d","namespace":"ns","resourceVersion":"6"}}})");

  EXPECT_THAT(AwaitSeen(2), ElementsAre("a", "a"));
}

TEST_F(ControllerTest, EveryObjectIsReconciledAgainAtEachResync) {
  ListPods({PodText("a")});
  manager_.AddController<Pod>({.resync = 30s}).Reconcile([this](const Pod& pod, Context&) {
    Saw(pod.metadata.name);
    return Result{};
  });
  Start();
  AwaitSeen(1);

  PassUntilSeen(3, 10s);

  EXPECT_GE(clock_.Now() - TimePoint{}, 60s);
}

TEST_F(ControllerTest, AKeyInOneWorkersHandIsLeftAloneByTheOthersAndRunOnceMoreAfterwards) {
  std::latch first_may_end{1};
  std::atomic<bool> first{true};
  manager_.AddController<Pod>({.workers = 4}).Reconcile([&](const Pod& pod, Context&) {
    const bool is_first = first.exchange(false);  // before anybody can send another
    Saw(pod.metadata.name);
    if (is_first) first_may_end.wait();
    return Result{};
  });
  Start();
  transport_->Await("WATCH", kPods);

  Send("ADDED", PodText("a"));
  EXPECT_THAT(AwaitSeen(1), ElementsAre("a"));
  Send("MODIFIED", PodText("a"));
  Send("MODIFIED", PodText("a"));
  Send("ADDED", PodText("b"));
  EXPECT_THAT(AwaitSeen(2), ElementsAre("a", "b"));
  Send("ADDED", PodText("c"));
  EXPECT_THAT(AwaitSeen(3), ElementsAre("a", "b", "c"));
  first_may_end.count_down();
  EXPECT_THAT(AwaitSeen(4), ElementsAre("a", "b", "c", "a"));

  Send("ADDED", PodText("d"));
  EXPECT_THAT(AwaitSeen(5), ElementsAre("a", "b", "c", "a", "d"));
}

TEST_F(ControllerTest, WhatHappensGoesInFrontOfTheFirstList) {
  ListPods({PodText("a"), PodText("b"), PodText("c")});
  manager_.AddController<Pod>().Reconcile([&](const Pod& pod, Context& context) {
    Saw(pod.metadata.name);
    while (!context.cache.Get<Pod>({"ns", "after live"})) std::this_thread::yield();
    return Result{};
  });
  Start();
  transport_->Await("WATCH", kPods);
  AwaitSeen(1);
  Send("ADDED", PodText("live"));
  Send("ADDED", PodText("after live"));  // once the cache has it, the queue has the other

  EXPECT_EQ(AwaitSeen(5)[1], "live");
}

TEST_F(ControllerTest, AnOrderOfOnesOwnMayLetNamespacesTakeTurns) {
  using workqueue::Order;
  const auto tenant = [](const ObjectKey& key) { return key.name.substr(0, 1); };
  ListPods({PodText("a1"), PodText("a2"), PodText("a3"), PodText("b1")});
  std::latch may_begin{1};
  manager_.AddController<Pod>({.order = Order::Fair<ObjectKey>({.tenant = tenant})})
      .Reconcile([&](const Pod& pod, Context&) {
        may_begin.wait();
        Saw(pod.metadata.name);
        return Result{};
      });
  Start();
  transport_->Await("WATCH", kPods);
  may_begin.count_down();

  const auto seen = AwaitSeen(4);
  EXPECT_NE(seen[3], "b1") << "it comes after one of the others, or two, if the first was taken";
}

TEST_F(ControllerTest, AsManyReconcilesRunAtOnceAsThereAreWorkersAndNoMore) {
  constexpr int kWorkers = 3;
  constexpr int kPods = 30;
  std::vector<std::string> pods;
  for (int i = 0; i < kPods; ++i) pods.push_back(PodText("pod-" + std::to_string(i)));
  ListPods(pods);
  std::barrier all_at_work{kWorkers};
  std::atomic<int> at_work{0};
  std::atomic<bool> more{false};
  manager_.AddController<Pod>({.workers = kWorkers}).Reconcile([&](const Pod& pod, Context&) {
    if (++at_work > kWorkers) more = true;
    all_at_work.arrive_and_wait();
    if (at_work > kWorkers) more = true;
    all_at_work.arrive_and_wait();
    --at_work;
    Saw(pod.metadata.name);
    return Result{};
  });
  Start();

  AwaitSeen(kPods);
  EXPECT_FALSE(more);
}

TEST_F(ControllerTest, ALimiterThatThrowsCostsASecondAndNoWorker) {
  class Thrower final : public workqueue::RateLimiter<ObjectKey> {
   public:
    Duration When(const ObjectKey&) override { throw std::runtime_error("limiter broken"); }
    void Forget(const ObjectKey&) override {}
    int NumRequeues(const ObjectKey&) override { return 0; }
  };
  ListPods({PodText("a")});
  int calls = 0;
  manager_.AddController<Pod>({.limiter = std::make_unique<Thrower>()})
      .Reconcile([&](const Pod&, Context&) -> Result {
        Saw("call");
        if (++calls == 1) throw std::runtime_error("try again");
        return {};
      });
  Start();
  AwaitSeen(1);

  PassUntilSeen(2, 100ms);

  EXPECT_GE(clock_.Now() - TimePoint{}, 1s);
  EXPECT_THAT(Logged(), HasSubstr("limiter broken"));
}

TEST_F(ControllerTest, AnEventOfAReconcilerCarriesTheProgramsName) {
  ListPods({PodText("a")});
  transport_->Reply("POST", "/api/v1/namespaces/ns/events", 201, "{}");
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
