#include "manager_fixture.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <iostream>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// A Manager with a controller "foo" of Pods that also watches Deployments.
class ManagerWatchesTest : public ManagerTest {
 protected:
  ManagerWatchesTest() {
    SetPods({PodJson("a")});
    transport_->Respond("GET", kDeployments, 200,
                        R"({"kind":"DeploymentList","metadata":{"resourceVersion":"5"},"items":[
                        {"metadata":{"name":"d","namespace":"ns","resourceVersion":"5"}}]})");
  }
  /// Adds the controller. Its reconciles are recorded as "reconcile", and calls of `map` as "map".
  void AddControllerWithMapping(Manager& manager, const std::function<void()>& map) {
    manager.AddController<Pod>({.name = "foo"})
        .Watches<Deployment>([this, map](const Deployment&) {
          RecordCall("map");
          map();
          return std::vector<ObjectKey>{};
        })
        .Reconcile([this](const Pod&, Context&) {
          RecordCall("reconcile");
          return Result{};
        });
  }
  /// Blocks until the manager waits only for its handlers; before that, no time may pass.
  void AwaitEndOfWorkers() { AwaitLog("All workers finished"); }
  /// Runs a manager whose mapping never returns, logs to standard error, and requests a stop.
  [[noreturn]] void StopManagerWithABlockedMapping() {
    Manager manager{Options{.log = Logger({.write =
                                               [this](std::string_view line) {
                                                 std::cerr << line;
                                                 {
                                                   const std::lock_guard guard{mutex_};
                                                   log_ += line;
                                                 }
                                                 changed_.notify_all();
                                               }}),
                            .transport = transport_,
                            .clock = clock_}};
    AddControllerWithMapping(manager, [] { std::promise<void>().get_future().wait(); });
    std::jthread runner([&](const std::stop_token& stop) { manager.Run(stop); });
    AwaitCalls(2);
    runner.request_stop();
    AwaitEndOfWorkers();
    clock_.AwaitSleeperFor(25s);
    clock_.Advance(25s);
    AwaitLog("cancelling API calls");
    while (true) clock_.Advance(1s);
  }
};

TEST_F(ManagerWatchesTest, ABlockedMappingDelaysNeitherTheCacheNorReconciles) {
  std::promise<void> unblock;
  AddControllerWithMapping(manager_, [future = unblock.get_future().share()] { future.wait(); });
  Start();
  AwaitCalls(2);

  transport_->SendToWatch(kDeployments,
                          R"({"type":"ADDED","object":{"kind":"Deployment","apiVersion":"apps/v1",
      "metadata":{"name":"new","namespace":"ns","resourceVersion":"6"}}})"
                          "\n");
  SendPodEvent("ADDED", PodJson("b"));

  EXPECT_THAT(AwaitCalls(3), ::testing::UnorderedElementsAre("map", "reconcile", "reconcile"));
  while (!manager_.cache().Get<Deployment>({"ns", "new"})) std::this_thread::yield();
  unblock.set_value();
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ManagerWatchesTest, TheApiCallsOfAMappingAreCancelledBeforeTheGracefulShutdownTimeout) {
  AddControllerWithMapping(manager_, [this] {
    while (true) (void)manager_.client().Get<Pod>({"ns", "a"});
  });
  transport_->Respond("GET", "/api/v1/namespaces/ns/pods/a", 200, PodJson("a"));
  Start();
  AwaitCalls(2);

  runner_.request_stop();
  AwaitEndOfWorkers();
  clock_.AwaitSleeperFor(25s);  // a quarter of the timeout remains, but at most 5 s
  clock_.Advance(25s);

  EXPECT_EQ(Stop(), 0);
  EXPECT_THAT(LogText(), HasSubstr("cancelling API calls"));
}

TEST_F(ManagerWatchesTest, AMappingThatNeverReturnsEndsTheProcessWithCode1AndIsNamed) {
  EXPECT_EXIT(StopManagerWithABlockedMapping(), ::testing::ExitedWithCode(1),
              "exiting with code 1.*foo.* of Deployment");
}

}  // namespace
}  // namespace kopp
