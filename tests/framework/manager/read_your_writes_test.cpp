#include "manager_fixture.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The manager reconciles the Pod ns/a, which has version 5. A patch returns version 7.
class ReadYourWritesTest : public ManagerTest {
 protected:
  ReadYourWritesTest() {
    SetPods({PodJson("a")});
    transport_->Respond("PATCH", "/api/v1/namespaces/ns/pods/a", 200, Patched());
  }
  static std::string Patched() {
    return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns",)"
           R"("uid":"u-a","resourceVersion":"7"}})";
  }
  void PatchPod(Context& context) {
    context.client.WithFieldManager("other").Patch<Pod>(context.key, Patch::Merge({}));
  }
};

TEST_F(ReadYourWritesTest, AReadOfTheCacheAfterAWriteWaitsForTheEventOfTheWatch) {
  manager_.AddController<Pod>().Reconcile([this](const Pod& pod, Context& context) -> Result {
    if (pod.metadata.resourceVersion == "7") return {};
    PatchPod(context);
    RecordCall(context.cache.Get<Pod>(context.key)->metadata.resourceVersion);
    RecordCall(context.cache.List<Pod>("ns").front()->metadata.resourceVersion);
    return {};
  });
  Start();
  clock_.AwaitSleeperFor(5s);  // the read

  SendPodEvent("MODIFIED", Patched());

  EXPECT_THAT(AwaitCalls(2), ElementsAre("7", "7"));
}

TEST_F(ReadYourWritesTest, AReadThatTimesOutFailsTheReconcileWhichIsRetried) {
  manager_.AddController<Pod>().Reconcile([this](const ObjectKey& key, Context& context) -> Result {
    RecordCall("reconcile");
    const bool is_retry = !LogText().empty() && LogText().find("own write") != std::string::npos;
    if (!is_retry) PatchPod(context);
    const auto pod = context.cache.Get<Pod>(key, {.await_own_writes = !is_retry});
    RecordCall(pod->metadata.resourceVersion);
    return {};
  });
  Start();
  clock_.AwaitSleeperFor(5s);

  clock_.Advance(5s);
  AdvanceUntilCalls(3, 10ms);

  EXPECT_THAT(AwaitCalls(3), ElementsAre("reconcile", "reconcile", "5"));
  EXPECT_THAT(LogText(), HasSubstr("has not received this program's own write of Pod ns/a"));
}

TEST_F(ReadYourWritesTest, AfterAStopAReadStillReceivesItsWrite) {
  manager_.AddController<Pod>().Reconcile([this](const Pod&, Context& context) -> Result {
    PatchPod(context);
    RecordCall(context.cache.Get<Pod>(context.key)->metadata.resourceVersion);
    return {};
  });
  Start();
  clock_.AwaitSleeperFor(5s);

  runner_.request_stop();
  while (LogText().find("Shutdown signal") == std::string::npos) std::this_thread::yield();
  clock_.AwaitSleeperFor(25s);  // the manager waits for the reconcile
  SendPodEvent("MODIFIED", Patched());

  EXPECT_EQ(Stop(), 0);
  EXPECT_THAT(AwaitCalls(1), ElementsAre("7"));
}

TEST_F(ReadYourWritesTest, AMappingDoesNotWaitForWritesSoThatItsEventIsNotLost) {
  manager_.AddController<Pod>()
      .Watches<Deployment>([this](const Deployment&) {
        std::vector<ObjectKey> keys;
        for (const auto& pod : manager_.cache().List<Pod>()) keys.push_back(KeyOf(*pod));
        RecordCall("mapped");
        return keys;
      })
      .Reconcile([this](const ObjectKey&, Context&) -> Result {
        RecordCall("reconcile");
        return {};
      });
  Start();
  AwaitCalls(1);
  manager_.client().Patch<Pod>({"ns", "a"}, Patch::Merge({}));

  transport_->SendToWatch(kDeployments,
                          R"({"type":"ADDED","object":{"kind":"Deployment","apiVersion":"apps/v1",
      "metadata":{"name":"new","namespace":"ns","resourceVersion":"6"}}})"
                          "\n");

  EXPECT_THAT(AwaitCalls(3), ElementsAre("reconcile", "mapped", "reconcile"));
}

TEST_F(ReadYourWritesTest, WithoutATimeoutReadsDoNotWait) {
  Manager manager{{.cache = {.own_writes_timeout = 0s}, .transport = transport_, .clock = clock_}};
  manager.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });

  manager.client().Patch<Pod>({"ns", "a"}, Patch::Merge({}));

  EXPECT_EQ(manager.cache().Get<Pod>({"ns", "a"}), nullptr);
}

TEST_F(ReadYourWritesTest, WithoutATimeoutTheWritesOfAnotherClientAreNotAwaited) {
  Manager manager{{.cache = {.own_writes_timeout = 0s}, .transport = transport_, .clock = clock_}};
  manager.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });

  manager.client()
      .WithWriteObserver(manager.cache().write_observer())
      .Patch<Pod>({"ns", "a"}, Patch::Merge({}));

  EXPECT_EQ(manager.cache().Get<Pod>({"ns", "a"}), nullptr);
}

TEST_F(ReadYourWritesTest, AnObjectThatTheCacheDoesNotSelectIsNotAwaited) {
  Manager manager{{.cache = {.selector = {.label_selector = "app=web"}},
                   .transport = transport_,
                   .clock = clock_}};
  manager.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });

  manager.client().Patch<Pod>({"ns", "a"}, Patch::Merge({}));  // it has no labels

  EXPECT_EQ(manager.cache().Get<Pod>({"ns", "a"}), nullptr);
}

}  // namespace
}  // namespace kopp
