#include "manager_fixture.hpp"
#include "support/raw_client.hpp"

#include <chrono>
#include <condition_variable>
#include <future>
#include <iostream>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

void BlockUntil(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any cv;
  std::unique_lock lock{mutex};
  cv.wait(lock, stop, [] { return false; });
}

class RunnablesTest : public ManagerTest {
 protected:
  /// Returns a runnable that records when it starts and when it ends.
  Runnable Recording(const std::string& name) {
    return [this, name](const std::stop_token& stop) {
      RecordCall("start " + name);
      BlockUntil(stop);
      RecordCall("end " + name);
    };
  }
  /// Lets time pass until the informers have listed again.
  void AdvanceUntilSynced() {
    while (!manager_.cache().NotSynced().empty()) {
      AwaitIdle();
      clock_.Advance(std::chrono::milliseconds(200));
    }
  }
};

TEST_F(RunnablesTest, GroupsStartInOrderAndStopInReverseOrder) {
  using enum RunnableGroup;
  transport_->Respond("GET", kPods, 403, R"({"reason":"Forbidden"})");
  manager_.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  manager_.Add({.name = "leader", .group = kLeaderElected}, Recording("leader"));
  manager_.Add({.name = "others", .group = kOthers}, Recording("others"));
  manager_.Add({.name = "caches", .group = kCaches}, Recording("caches"));
  manager_.Add({.name = "servers", .group = kServers}, Recording("servers"));
  Start();
  AwaitCalls(2);
  transport_->Await("GET", kPods);
  EXPECT_THAT(AwaitCalls(2), UnorderedElementsAre("start servers", "start caches"))
      << "the caches have not synced";

  SetPods({});
  AdvanceUntilSynced();
  AwaitCalls(4);
  EXPECT_EQ(Stop(), 0);

  const auto calls = AwaitCalls(8);
  EXPECT_THAT(std::vector(calls.begin() + 2, calls.begin() + 4),
              UnorderedElementsAre("start others", "start leader"));
  EXPECT_THAT(std::vector(calls.begin() + 4, calls.end()),
              ElementsAre("end leader", "end others", "end caches", "end servers"));
}

TEST_F(RunnablesTest, AnExceptionAfterTheStopIsNotAFailure) {
  manager_.Add({.name = "report"}, [this](const std::stop_token& stop) {
    RecordCall("start");
    BlockUntil(stop);
    throw std::runtime_error("cancelled");
  });
  Start();
  AwaitCalls(1);

  EXPECT_EQ(Stop(), 0);
  EXPECT_THAT(LogText(), Not(HasSubstr("failed")));
}

TEST_F(RunnablesTest, AHealthCheckThatHangsDoesNotExceedTheShutdownTimeout) {
  const auto stop_manager = [this] {
    Manager manager{Options{.health = {.bind_address = "127.0.0.1:0"},
                            .log = Logger({.write =
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
    manager.AddHealthzCheck("hanging", [this]() -> std::optional<std::string> {
      RecordCall("check");
      std::promise<void>().get_future().wait();
      return std::nullopt;
    });
    // This group stops just before the health checks.
    manager.Add({.name = "servers", .group = RunnableGroup::kServers}, Recording("servers"));
    std::jthread runner([&](const std::stop_token& stop) { manager.Run(stop); });
    testing::RawClient probe(AwaitPort());
    probe.SendGet("/healthz");
    AwaitCalls(2);
    runner.request_stop();
    // The manager closes the connections of the health checks before it waits for the check.
    static_cast<void>(probe.AwaitClose());
    clock_.Advance(30s);
  };

  EXPECT_EXIT(stop_manager(), ::testing::ExitedWithCode(1),
              "exiting with code 1.*health checks or handlers");
}

TEST_F(RunnablesTest, ARunnableThatReturnsEarlyDoesNotEndTheManager) {
  manager_.Add({.name = "short"}, [this](const std::stop_token&) { RecordCall("short"); });
  manager_.Add({.name = "long"}, Recording("long"));
  Start();
  AwaitCalls(2);

  EXPECT_EQ(Stop(), 0);
  EXPECT_THAT(AwaitCalls(3), ::testing::Contains("end long"));
}

TEST_F(RunnablesTest, ARunnableThatThrowsStopsTheManagerWithCode1) {
  manager_.Add({.name = "other"}, Recording("other"));
  manager_.Add({.name = "report"},
               [](const std::stop_token&) { throw std::runtime_error("the disk is full"); });
  Start();
  runner_.join();

  EXPECT_EQ(code_, 1);
  EXPECT_THAT(LogText(),
              HasSubstr(R"(The runnable \"report\" failed, stopping" err="the disk is full")"));
}

TEST_F(RunnablesTest, AddDuringTheShutdownThrows) {
  manager_.Add({.name = "slow", .group = RunnableGroup::kServers},
               [this](const std::stop_token& stop) {
                 RecordCall("start");
                 BlockUntil(stop);
                 EXPECT_THROW(manager_.Add({.name = "more"}, Recording("more")), std::logic_error);
               });
  Start();
  AwaitCalls(1);

  EXPECT_EQ(Stop(), 0);
}

TEST_F(RunnablesTest, ARunnableThatDoesNotReturnEndsTheProcessWithCode1AndIsNamed) {
  const auto stop_manager = [this] {
    Manager manager{
        Options{.log = Logger({.write = [](std::string_view line) { std::cerr << line; }}),
                .transport = transport_,
                .clock = clock_}};
    manager.Add({.name = "endless"}, [this](const std::stop_token&) {
      RecordCall("start");
      std::promise<void>().get_future().wait();
    });
    std::jthread runner([&](const std::stop_token& stop) { manager.Run(stop); });
    AwaitCalls(1);
    runner.request_stop();
    clock_.AwaitSleeperFor(25s);  // the cancellation of calls
    clock_.Advance(25s);
    clock_.AwaitSleepers(2);
    while (true) clock_.Advance(1s);
  };

  EXPECT_EXIT(stop_manager(), ::testing::ExitedWithCode(1),
              "exiting with code 1.*runnable ..endless");
}

TEST_F(RunnablesTest, AShutdownWithoutALimitWaitsForEver) {
  Manager manager{Options{.graceful_shutdown_timeout = -1ns,
                          .log = Logger({.write = [](std::string_view) {}}),
                          .transport = transport_,
                          .clock = clock_}};
  std::promise<void> end;
  manager.Add({.name = "slow"}, [this, future = end.get_future().share()](const std::stop_token&) {
    RecordCall("start");
    future.wait();
  });
  std::stop_source stop;
  auto code = std::async(std::launch::async, [&] { return manager.Run(stop.get_token()); });
  AwaitCalls(1);

  stop.request_stop();
  clock_.Advance(1000h);
  end.set_value();

  EXPECT_EQ(code.get(), 0);
}

/// A Manager that knows a second, scripted API server.
class ClustersTest : public ManagerTest {
 protected:
  ClustersTest() {
    edge_->Respond(
        "GET", "/api/v1", 200,
        R"({"kind":"APIResourceList","resources":[{"name":"pods","kind":"Pod","namespaced":true}]})");
    edge_->Respond("GET", kPods, 200,
                   R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[)" +
                       PodJson("far") + "]}");
  }
  std::shared_ptr<testing::ScriptedTransport> edge_ =
      std::make_shared<testing::ScriptedTransport>(clock_);
};

TEST_F(ClustersTest, AReconcileReadsTheCacheOfAnotherCluster) {
  Cluster& edge = manager_.AddCluster("edge", {.transport = edge_, .required = true});
  edge.cache().InformerFor<Pod>();
  SetPods({PodJson("near")});
  manager_.AddController<Pod>().Reconcile([&](const Pod&, Context&) {
    for (const auto& pod : edge.cache().List<Pod>()) RecordCall(pod->metadata.name);
    return Result{};
  });
  Start();

  EXPECT_THAT(AwaitCalls(1), ElementsAre("far"));
  EXPECT_FALSE(manager_.cache().Get<Pod>({"ns", "far"}));
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ClustersTest, AnObjectOfAnotherClusterIsMappedToKeysOfTheControllersCluster) {
  Cluster& edge = manager_.AddCluster("edge", {.transport = edge_});
  manager_.AddController<Pod>()
      .Watches<Pod>(edge,
                    [](const Pod& pod) {
                      return std::vector<ObjectKey>{{"near", "of-" + pod.metadata.name}};
                    })
      .Reconcile([&](const ObjectKey& key, Context&) {
        RecordCall(key.ToString());
        return Result{};
      });
  Start();

  EXPECT_THAT(AwaitCalls(1), ElementsAre("near/of-far"));
  edge_->SendToWatch(kPods, R"({"type":"ADDED","object":)" + PodJson("new") + "}\n");
  EXPECT_THAT(AwaitCalls(2), ElementsAre("near/of-far", "near/of-new"));
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ClustersTest, AKindThatAnotherClusterDoesNotServeIsNamedWithTheCluster) {
  edge_->Respond("GET", "/api/v1", 404, "{}");
  manager_.AddCluster("edge", {.transport = edge_}).cache().InformerFor<Pod>();
  Start();
  runner_.join();

  EXPECT_EQ(code_, 1);
  EXPECT_THAT(LogText(),
              HasSubstr(R"(the API server of the cluster \"edge\" does not serve pods)"));
}

TEST_F(ClustersTest, AClusterThatIsAddedWhileTheManagerRunsStartsAtOnce) {
  manager_.Add({.name = "ready"}, [this](const std::stop_token&) { RecordCall("ready"); });
  Start();
  AwaitCalls(1);

  Cluster& edge = manager_.AddCluster("edge", {.transport = edge_});
  edge.cache().InformerFor<Pod>();

  EXPECT_TRUE(edge.cache().WaitForSync({}));
  EXPECT_TRUE(edge.cache().Get<Pod>({"ns", "far"}));
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ClustersTest, TwoClustersWithOneNameAreRejected) {
  manager_.AddCluster("edge", {.transport = edge_});

  EXPECT_THROW(manager_.AddCluster("edge", {.transport = edge_}), std::logic_error);
  EXPECT_THROW(manager_.AddCluster("", {.transport = edge_}), std::invalid_argument);
}

TEST(ClusterConfigTest, AnInvalidConfigurationIsReportedWithTheNameOfTheCluster) {
  std::string log;
  testing::FakeClock clock;
  Manager manager{Options{.log = Logger({.write = [&](std::string_view line) { log += line; }}),
                          .transport = std::make_shared<testing::ScriptedTransport>(clock)}};
  manager.AddCluster("edge", {.kubeconfig = "/nowhere/edge"});

  EXPECT_EQ(manager.Run({}), 1);
  EXPECT_THAT(log, HasSubstr(R"(cluster \"edge\": )"));
  EXPECT_THAT(log, HasSubstr("/nowhere/edge"));
}

}  // namespace
}  // namespace kopp
