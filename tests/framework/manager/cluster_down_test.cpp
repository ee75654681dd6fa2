// Further clusters whose API server cannot be reached when the manager starts.
#include "manager/served_manager.hpp"
#include "support/raw_client.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>
#include <kopp/read_your_writes.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::Get;
using ::testing::HasSubstr;

/// Delays each retry by a century, and calls a function.
class LongDelay final : public workqueue::RateLimiter<ObjectKey> {
 public:
  explicit LongDelay(std::function<void()> on_retry) : on_retry_(std::move(on_retry)) {}
  Duration When(const ObjectKey&) override {
    on_retry_();
    return std::chrono::years(100);
  }
  void Forget(const ObjectKey&) override {}
  int NumRequeues(const ObjectKey&) override { return 0; }

 private:
  std::function<void()> on_retry_;
};

class ClusterDownTest : public ServedManagerTest {
 protected:
  ClusterDownTest() {
    SetPods({PodJson("near")});
    const auto respond = [this](const std::string& body) {
      return [this, body](const ApiRequest&) -> ApiResponse {
        if (is_down_) throw TransportError(TransportError::Kind::kUnreachable, "edge is down");
        return {.status = 200, .body = body};
      };
    };
    edge_->On(
        "GET", "/api/v1",
        respond(
            R"({"kind":"APIResourceList","resources":[{"name":"pods","kind":"Pod","namespaced":true}]})"));
    edge_->On("GET", kPods,
              respond(R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[)" +
                      PodJson("far") + "]}"));
  }

  /// Adds a controller that records the names of Pods of its own cluster.
  void AddHomeController(Manager& manager) {
    manager.AddController<Pod>({.name = "home"}).Reconcile([this](const Pod& pod, Context&) {
      RecordCall(pod.metadata.name);
      return Result{};
    });
  }
  /// Adds a controller that watches Pods of `edge`, and records its keys.
  void AddEdgeController(Manager& manager, Cluster& edge) {
    const auto keys = [](const Pod& pod) {
      return std::vector<ObjectKey>{{"of", pod.metadata.name}};
    };
    manager.AddController<Deployment>({.name = "edge"})
        .Watches<Pod>(edge, keys)
        .Reconcile([this](const ObjectKey& key, Context&) {
          RecordCall(key.ToString());
          return Result{};
        });
  }
  /// Creates `served_`, with both controllers.
  void CreateServedManager(const HealthOptions& health, const MetricsServerOptions& metrics = {}) {
    served_.emplace(Options{.metrics = metrics,
                            .health = health,
                            .log = RecordingLogger(),
                            .transport = transport_,
                            .clock = clock_});
    AddHomeController(*served_);
    AddEdgeController(*served_, served_->AddCluster("edge", {.transport = edge_}));
  }

  /// Advances the clock until RecordCall(name) was called. The home cluster is resynced meanwhile.
  void AdvanceUntilCalled(const std::string& name) {
    const auto called = [&] {
      const std::lock_guard guard{mutex_};
      return std::ranges::find(calls_, name) != calls_.end();
    };
    for (; !called(); std::this_thread::yield()) clock_.Advance(1s);
  }

  std::atomic<bool> is_down_ = true;
  std::shared_ptr<testing::ScriptedTransport> edge_ =
      std::make_shared<testing::ScriptedTransport>(clock_);
};

TEST_F(ClusterDownTest, AControllerThatDoesNotWatchTheClusterStarts) {
  AddEdgeController(manager_, manager_.AddCluster("edge", {.transport = edge_}));
  AddHomeController(manager_);
  Start();

  EXPECT_THAT(AwaitCalls(1), ElementsAre("near"));
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ClusterDownTest, AControllerThatWatchesTheClusterReconcilesObjectsOfItsOwnCluster) {
  transport_->Respond("GET", kDeployments, 200,
                      R"({"kind":"DeploymentList","metadata":{"resourceVersion":"5"},"items":[
                          {"metadata":{"name":"web","namespace":"ns","resourceVersion":"5"}}]})");
  AddEdgeController(manager_, manager_.AddCluster("edge", {.transport = edge_}));
  AddHomeController(manager_);
  Start();
  EXPECT_THAT(AwaitCalls(1), ElementsAre("near"));

  AdvanceUntilCalled("ns/web");

  EXPECT_THAT(LogText(), HasSubstr(R"(controller="edge" cluster="edge")"));
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ClusterDownTest, AControllerThatWatchesTheClusterGetsItsEventsWhenItIsBack) {
  AddEdgeController(manager_, manager_.AddCluster("edge", {.transport = edge_}));
  AddHomeController(manager_);
  Start();
  AwaitCalls(1);  // the home cluster has synced, so its time limit does not count any more
  AdvanceUntilLogged("Starting a controller before the caches of a cluster have synced");
  clock_.Advance(10min);

  is_down_ = false;
  AdvanceUntilCalled("of/far");

  // The test advances the clock, so the informer may list again before the handler has the event.
  // If this list lacked the Pod, the handler would never see it.
  edge_->Respond("GET", kPods, 200,
                 R"({"kind":"PodList","metadata":{"resourceVersion":"6"},"items":[)" +
                     PodJson("far") + "," + PodJson("new") + "]}");
  edge_->SendToWatch(kPods, R"({"type":"ADDED","object":)" + PodJson("new") + "}\n");
  AdvanceUntilCalled("of/new");
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ClusterDownTest, AControllerThatWatchesTheClusterWaitsWhileItsFirstListIsOnTheWay) {
  std::latch list{1};
  edge_->On("GET", kPods, [&](const ApiRequest&) {
    list.wait();
    return ApiResponse{.status = 200,
                       .body = R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[)" +
                               PodJson("far") + "]}"};
  });
  is_down_ = false;
  Cluster& edge = manager_.AddCluster("edge", {.transport = edge_});
  manager_.AddController<Pod>({.name = "edge"})
      .Watches<Pod>(edge, [](const Pod&) { return std::vector<ObjectKey>{}; })
      .Reconcile([&](const Pod& pod, Context&) {
        RecordCall(pod.metadata.name + " of " + std::to_string(edge.cache().List<Pod>().size()));
        return Result{};
      });
  Start();
  transport_->Await("WATCH", kPods);
  edge_->Await("GET", kPods);
  clock_.AwaitSleeperFor(5s);  // the controller waits for the cluster
  clock_.Advance(5s);
  clock_.AwaitSleeperFor(5s);  // it still waits, because no list has failed
  list.count_down();

  EXPECT_THAT(AwaitCalls(1), ElementsAre("near of 1"));
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ClusterDownTest, ACallToTheClusterThatHangsDelaysNoOtherController) {
  std::latch responses{1};
  const auto hang = [&](const ApiRequest&) -> ApiResponse {
    responses.wait();
    throw TransportError(TransportError::Kind::kTimeout, "no response");
  };
  edge_->On("GET", "/api/v1", hang);
  edge_->On("GET", kPods, hang);
  AddEdgeController(manager_, manager_.AddCluster("edge", {.transport = edge_}));
  AddHomeController(manager_);
  Start();

  EXPECT_THAT(AwaitCalls(1), ElementsAre("near"));
  responses.count_down();
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ClusterDownTest, FailedKeysAreRetriedAtOnceWhenTheClusterIsBack) {
  Cluster& edge = manager_.AddCluster("edge", {.transport = edge_});
  edge.cache().InformerFor<Pod>();
  // The home cluster confirms its version, so that it does not list again.
  transport_->Respond(
      "GET", "/api/v1/namespaces/ns/pods", 200,
      R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[)" + PodJson("near") + "]}");
  auto limiter = std::make_unique<LongDelay>([this] { RecordCall("failed"); });
  manager_.AddController<Pod>({.limiter = std::move(limiter), .sync_period = Duration::zero()})
      .Reconcile([&](const Pod&, Context&) {
        RecordCall(std::to_string(edge.cache().List<Pod>().size()));
        return Result{};
      });
  Start();
  EXPECT_THAT(AwaitCalls(1), ElementsAre("failed"));

  is_down_ = false;
  AdvanceUntilCalled("1");
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ClusterDownTest, TheManagerReturns1IfARequiredClusterCannotBeReached) {
  manager_.AddCluster("edge", {.transport = edge_, .required = true}).cache().InformerFor<Pod>();
  AddHomeController(manager_);
  Start();
  AdvanceUntilLogged("Cannot start");
  runner_.join();

  EXPECT_EQ(code_, 1);
  EXPECT_THAT(LogText(), HasSubstr("edge is down"));
  EXPECT_THAT(calls_, ElementsAre());
}

TEST_F(ClusterDownTest, TheManagerReturns1IfTheCachesOfARequiredClusterDoNotSyncInTime) {
  is_down_ = false;
  edge_->Respond("GET", kPods, 403, R"({"reason":"Forbidden"})");
  Cluster& edge = manager_.AddCluster("edge", {.transport = edge_, .required = true});
  AddEdgeController(manager_, edge);
  AddHomeController(manager_);
  Start();
  transport_->Await("WATCH", kPods);  // the home cluster has synced: only the limit of edge counts
  transport_->Await("WATCH", kDeployments);
  AwaitLog(R"(cluster="edge")");  // its first list has failed
  AdvanceUntilLogged("the caches have not synced in time");
  runner_.join();

  EXPECT_EQ(code_, 1);
  EXPECT_THAT(LogText(), HasSubstr(R"(cluster="edge")"));
  EXPECT_THAT(calls_, ElementsAre());
}

TEST_F(ClusterDownTest, AReadOfItsCacheInAReconcileThrowsUntilItIsBack) {
  Cluster& edge = manager_.AddCluster("edge", {.transport = edge_});
  edge.cache().InformerFor<Pod>();
  manager_.AddController<Pod>().Reconcile([&](const Pod&, Context&) -> Result {
    try {
      for (const auto& pod : edge.cache().List<Pod>()) RecordCall(pod->metadata.name);
    } catch (const StaleCacheError& error) {
      RecordCall(error.what());
      throw;
    }
    return {};
  });
  Start();
  EXPECT_THAT(AwaitCalls(1)[0], HasSubstr("the cache has no complete list yet: Pod"));

  is_down_ = false;
  AdvanceUntilCalled("far");

  EXPECT_EQ(Stop(), 0);
}

TEST_F(ClusterDownTest, AReadOfItsCacheInAHandlerReturnsWhatIsThere) {
  Cluster& edge = manager_.AddCluster("edge", {.transport = edge_});
  edge.cache().InformerFor<Pod>();
  manager_.AddController<Deployment>()
      .Watches<Pod>([&](const Pod&) {
        RecordCall(std::to_string(edge.cache().List<Pod>().size()));
        return std::vector<ObjectKey>{};
      })
      .Reconcile([](const ObjectKey&, Context&) { return Result{}; });
  Start();

  EXPECT_THAT(AwaitCalls(1), ElementsAre("0"));
}

TEST_F(ClusterDownTest, ReadinessFailsAndNamesTheCluster) {
  CreateServedManager({.bind_address = "127.0.0.1:0"});
  StartManager();
  AwaitCalls(1);

  EXPECT_EQ(Get(port_, "/readyz").status, 500);
  AwaitLog(R"(cluster \"edge\": not synced: Pod)");

  is_down_ = false;
  while (Get(port_, "/readyz").status != 200) clock_.Advance(1s);
}

TEST_F(ClusterDownTest, AMetricShowsWhetherTheClusterHasSynced) {
  CreateServedManager({}, {.bind_address = "127.0.0.1:0", .secure = false});
  const auto has = [this](const std::string& line) {
    return served_->metrics().Text().find(line + "\n") != std::string::npos;
  };
  StartManager();
  AwaitCalls(1);
  EXPECT_TRUE(has(R"(kopp_cluster_synced{cluster="edge"} 0)"));

  is_down_ = false;
  while (!has(R"(kopp_cluster_synced{cluster="edge"} 1)")) clock_.Advance(1s);
}

}  // namespace
}  // namespace kopp
