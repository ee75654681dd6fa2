// Controllers that are added while the manager runs.
#include "controller/controller_impl.hpp"
#include "controller/controller_queue.hpp"
#include "manager_fixture.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LaterControllersTest : public ManagerTest {
 protected:
  /// Runs the manager. Blocks until it has started what only a leader runs.
  void StartAndAwaitReady() {
    manager_.Add({.name = "ready"}, [this](const std::stop_token&) { RecordCall("ready"); });
    Start();
    AwaitCalls(1);
  }
  /// Returns a reconcile function that records the names of Pods.
  auto Recording() {
    return [this](const Pod& pod, Context&) {
      RecordCall(pod.metadata.name);
      return Result{};
    };
  }
};

TEST_F(LaterControllersTest, AControllerThatIsAddedWhileTheManagerRunsStartsAndStopsWithIt) {
  SetPods({PodJson("a")});
  StartAndAwaitReady();

  Controller& later = manager_.AddController<Pod>({.name = "later"}).Reconcile(Recording());

  EXPECT_THAT(AwaitCalls(2), ElementsAre("ready", "a"));
  transport_->Await("WATCH", kPods);
  SendPodEvent("ADDED", PodJson("b"));
  EXPECT_THAT(AwaitCalls(3), ElementsAre("ready", "a", "b"));
  EXPECT_EQ(Stop(), 0);
  EXPECT_EQ(later.CompletedReconciles(), 2);
  EXPECT_THAT(LogText(), HasSubstr(R"("Workers finished" controller="later")"));
}

TEST_F(LaterControllersTest, ItsSourcesStart) {
  StartAndAwaitReady();
  const Channel<ObjectKey> channel;

  manager_.AddController<Pod>().WatchesChannel(channel).Reconcile(
      [this](const ObjectKey& key, Context&) {
        RecordCall(key.name);
        return Result{};
      });
  AwaitLog("Starting workers");
  channel.Send({"ns", "x"});

  EXPECT_THAT(AwaitCalls(2), ElementsAre("ready", "x"));
}

TEST_F(LaterControllersTest, ItsWorkersStartWhenItsCachesHaveSynced) {
  StartAndAwaitReady();
  transport_->Respond("GET", kPods, 403, R"({"reason":"Forbidden"})");

  Controller& later =
      manager_.AddController<Pod>().Reconcile([this](const ObjectKey&, Context&) -> Result {
        RecordCall(manager_.cache().NotSynced().empty() ? "synced" : "not synced");
        return {};
      });
  Controller::Impl::Of(later).queue().Add({"ns", "a"});
  clock_.AwaitSleeperFor(2min);  // the controller waits for its caches
  // The two threads of the manager and the queue, and the informer before its second list.
  clock_.AwaitSleepers(4);
  SetPods({});
  clock_.Advance(1min);

  EXPECT_THAT(AwaitCalls(2), ElementsAre("ready", "synced"));
}

TEST_F(LaterControllersTest, TheManagerStopsWithCode1IfItsCachesDoNotSyncInTime) {
  StartAndAwaitReady();
  transport_->Respond("GET", kPods, 403, R"({"reason":"Forbidden"})");
  manager_.AddController<Pod>({.name = "later"}).Reconcile(Recording());

  AwaitLog("Reflector error");
  while (manager_.cache().NotSynced().at(0).problem.empty()) std::this_thread::yield();

  AdvanceUntilLogged("failed, stopping");
  runner_.join();

  EXPECT_EQ(code_, 1);
  EXPECT_GE(clock_.Now() - TimePoint{}, 2min);
  EXPECT_THAT(LogText(), HasSubstr(R"(The runnable \"controller later\" failed, stopping" )"
                                   R"(err="the caches have not synced in time: Pod: )"));
}

TEST_F(LaterControllersTest, AKindThatNoControllerNeedsDoesNotDelayIt) {
  StartAndAwaitReady();
  SetPods({PodJson("a")});
  transport_->Respond("GET", kDeployments, 404, "{}");
  manager_.cache().InformerFor<Deployment>();

  manager_.AddController<Pod>().Reconcile(Recording());

  EXPECT_THAT(AwaitCalls(2), ElementsAre("ready", "a"));
  EXPECT_EQ(Stop(), 0);
}

TEST_F(LaterControllersTest, AReconcileMayAddAController) {
  SetPods({PodJson("a")});
  transport_->Respond("GET", kDeployments, 200,
                      R"({"kind":"DeploymentList","metadata":{"resourceVersion":"5"},"items":[
                          {"metadata":{"name":"web","namespace":"ns","resourceVersion":"5"}}]})");
  manager_.AddController<Pod>().Reconcile([this](const Pod&, Context&) {
    manager_.AddController<Deployment>().Reconcile([this](const Deployment& web, Context&) {
      RecordCall(web.metadata.name);
      return Result{};
    });
    return Result{};
  });
  Start();

  EXPECT_THAT(AwaitCalls(1), ElementsAre("web"));
  EXPECT_EQ(Stop(), 0);
}

TEST_F(LaterControllersTest, ControllersMayBeAddedByManyThreadsAtOnce) {
  SetPods({PodJson("a")});
  StartAndAwaitReady();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, name = "later-" + std::to_string(i)] {
      manager_.AddController<Pod>({.name = name}).Reconcile([this, name](const Pod&, Context&) {
        RecordCall(name);
        return Result{};
      });
    });
  }
  const auto calls = AwaitCalls(9);

  for (int i = 0; i < 8; ++i) EXPECT_THAT(calls, Contains("later-" + std::to_string(i)));
  EXPECT_EQ(Stop(), 0);
}

TEST_F(LaterControllersTest, AControllerWithoutAReconcileFunctionIsNotStarted) {
  StartAndAwaitReady();
  SetPods({PodJson("a")});

  auto builder = manager_.AddController<Pod>({.name = "incomplete"});
  manager_.AddController<Pod>({.name = "complete"}).Reconcile(Recording());
  AwaitCalls(2);

  EXPECT_EQ(Stop(), 0);
  EXPECT_EQ(builder.controller().CompletedReconciles(), 0);
}

TEST_F(LaterControllersTest, ANameThatIsInUseIsRejected) {
  StartAndAwaitReady();
  manager_.AddController<Pod>().Reconcile(Recording());

  EXPECT_THROW((void)manager_.AddController<Pod>(), std::logic_error);
}

TEST_F(LaterControllersTest, ReconcileThrowsDuringTheShutdown) {
  StartAndAwaitReady();
  auto builder = manager_.AddController<Pod>({.name = "late"});
  EXPECT_EQ(Stop(), 0);

  EXPECT_THROW(builder.Reconcile(Recording()), std::logic_error);
  EXPECT_THROW((void)manager_.AddController<Pod>(), std::logic_error);
}

}  // namespace
}  // namespace kopp
