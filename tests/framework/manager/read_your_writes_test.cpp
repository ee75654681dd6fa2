#include "cache/cache_impl.hpp"
#include "manager_fixture.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
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
  Controller& controller = manager_.AddController<Pod>().Reconcile(
      [this](const ObjectKey& key, Context& context) -> Result {
        RecordCall("reconcile");
        const bool is_retry =
            !LogText().empty() && LogText().find("own write") != std::string::npos;
        if (!is_retry) PatchPod(context);
        const auto pod = context.cache.Get<Pod>(key, {.await_own_writes = !is_retry});
        RecordCall(pod->metadata.resourceVersion);
        return {};
      });
  Start();
  clock_.AwaitSleeperFor(5s);

  clock_.Advance(5s);
  AdvanceUntilCalls(controller, 3, 10ms);

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
  AwaitLog("Shutdown signal");
  clock_.AwaitSleeperFor(25s);  // the manager waits for the reconcile
  SendPodEvent("MODIFIED", Patched());

  EXPECT_EQ(Stop(), 0);
  EXPECT_THAT(AwaitCalls(1), ElementsAre("7"));
}

TEST_F(ReadYourWritesTest, AReadThatWaitsEndsAtTheTimeoutOfTheReconcile) {
  manager_.AddController<Pod>({.reconcile_timeout = 2s})
      .Reconcile([this](const Pod&, Context& context) -> Result {
        PatchPod(context);
        try {
          (void)context.cache.Get<Pod>(context.key);
        } catch (const StaleCacheError& error) {
          RecordCall(error.what());
        }
        try {
          (void)context.cache.List<Pod>();
        } catch (const StaleCacheError& error) {
          RecordCall(error.what());
        }
        return {};
      });
  Start();
  clock_.AwaitSleeperFor(5s);  // the read

  clock_.Advance(2s);

  EXPECT_THAT(AwaitCalls(2), Each(HasSubstr("own write of Pod ns/a (resource version 7) before")));
  EXPECT_EQ(clock_.Now() - TimePoint{}, 2s);
}

TEST_F(ReadYourWritesTest, AReadThatWaitsForTheFirstListEndsAtTheTimeoutOfTheReconcile) {
  transport_->Respond("GET", kDeployments, 500, "{}");
  Manager manager{Options{.cache = {.start_informers_on_read = true},
                          .log = Logger({.write = [](std::string_view) {}}),
                          .transport = transport_,
                          .clock = clock_}};
  manager.AddController<Pod>({.reconcile_timeout = 2s})
      .Reconcile([this](const Pod&, Context& context) -> Result {
        try {
          (void)context.cache.List<Deployment>();
        } catch (const std::runtime_error& error) {
          RecordCall(error.what());
        }
        return {};
      });
  const std::jthread runner([&](const std::stop_token& stop) { manager.Run(stop); });
  transport_->Await("GET", kDeployments);  // the read has started the informer

  clock_.Advance(2s);

  EXPECT_THAT(AwaitCalls(1).front(), HasSubstr("no complete list of Deployment objects before"));
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
      .WithWriteObserver(Cache::Impl::Of(manager.cache()))
      .Patch<Pod>({"ns", "a"}, Patch::Merge({}));

  EXPECT_EQ(manager.cache().Get<Pod>({"ns", "a"}), nullptr);
}

TEST_F(ReadYourWritesTest, AnObjectThatTheCacheDoesNotSelectIsNotAwaited) {
  Manager manager{
      {.cache = {.selector = {.labels = "app=web"}}, .transport = transport_, .clock = clock_}};
  manager.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });

  manager.client().Patch<Pod>({"ns", "a"}, Patch::Merge({}));  // it has no labels

  EXPECT_EQ(manager.cache().Get<Pod>({"ns", "a"}), nullptr);
}

}  // namespace
}  // namespace kopp
