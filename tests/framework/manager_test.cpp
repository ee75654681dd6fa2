#include "manager_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(ManagerTest, AStopLetsTheWorkInHandFinishAndTakesNoOther) {
  ListPods({PodText("a"), PodText("b")});
  manager_.AddController<Pod>().Reconcile([this](const Pod& pod, Context& context) {
    Saw("begin");
    std::mutex mutex;
    std::condition_variable_any cv;
    std::unique_lock lock{mutex};
    cv.wait(lock, context.stop, [] { return false; });  // until it is told to stop
    (void)context.client.Get<Pod>(KeyOf(pod));          // its calls still go through
    Saw("end");
    return Result{};
  });
  Start();
  AwaitSeen(1);

  EXPECT_EQ(Stop(), 0);

  EXPECT_THAT(AwaitSeen(2), ElementsAre("begin", "end"));
  EXPECT_THAT(Logged(), HasSubstr("All workers finished"));
}

TEST_F(ManagerTest, AReconcileThatOutlastsTheGracefulShutdownHasItsCallsCancelled) {
  ListPods({PodText("a")});
  std::atomic<bool> cancelled{false};
  manager_.AddController<Pod>().Reconcile([&](const Pod& pod, Context& context) -> Result {
    Saw("begin");
    while (true) {
      try {
        (void)context.client.Get<Pod>(KeyOf(pod));
      } catch (const TransportError& error) {
        cancelled = error.kind() == TransportError::Kind::kCancelled;
        throw;
      }
      std::this_thread::yield();
    }
  });
  Start();
  AwaitSeen(1);

  runner_.request_stop();
  while (Logged().find("their calls are cancelled") == std::string::npos) clock_.Advance(1s);

  EXPECT_EQ(Stop(), 0);
  EXPECT_TRUE(cancelled);
  EXPECT_GE(clock_.Now() - TimePoint{}, 30s) << "so long it was let alone";
}

TEST_F(ManagerTest, AStopBeforeTheCachesHaveSyncedEndsTheProgramWithOne) {
  transport_->Reply("GET", kPods, 403, R"({"reason":"Forbidden"})");
  manager_.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  Start();
  transport_->Await("GET", kPods);

  EXPECT_EQ(Stop(), 1);
  EXPECT_THAT(Logged(), HasSubstr("Stopped before the caches had synced"));
}

TEST_F(ManagerTest, AKindThatIsNotServedIsSaidInOneLineAndEndsTheProgramWithOne) {
  transport_->Reply("GET", "/apis/apps/v1", 404, "{}");
  manager_.AddController<Deployment>().Reconcile(
      [](const Deployment&, Context&) { return Result{}; });
  Start();
  runner_.join();

  EXPECT_EQ(code_, 1);
  EXPECT_THAT(Logged(), HasSubstr("the API server does not serve deployments of apps/v1: install "
                                  "the CustomResourceDefinition of Deployment"));
  EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1);
}

TEST_F(ManagerTest, AServerThatCannotBeReachedIsSaidInOneLineAndEndsTheProgramWithOne) {
  transport_->On("GET", "/api/v1", [](const Request&) -> Response {
    throw TransportError(TransportError::Kind::kUnreachable, "GET …: connection refused");
  });
  manager_.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  Start();
  runner_.join();

  EXPECT_EQ(code_, 1);
  EXPECT_THAT(Logged(), HasSubstr("\"Cannot start\" err=\"GET …: connection refused\""));
}

TEST(ManagerConfigTest, AConfigurationThatCannotBeUsedIsSaidByRunAndNotThrown) {
  std::string log;
  Manager manager{Options{.kubeconfig = "/nowhere/kubeconfig",
                          .log = Logger({.write = [&](std::string_view line) { log += line; }})}};
  manager.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });

  EXPECT_EQ(manager.Run({}), 1);
  EXPECT_THAT(log, HasSubstr("/nowhere/kubeconfig"));
}

TEST_F(ManagerTest, MistakesOfTheProgramAreLogicErrors) {
  manager_.AddController<Pod>({.name = "pods"}).Reconcile([this](const Pod&, Context& context) {
    Saw("call");
    (void)context.cache.Get<Deployment>({"ns", "d"});
    return Result{};
  });
  EXPECT_THROW((void)manager_.AddController<Pod>({.name = "pods"}), std::logic_error);
  EXPECT_THROW((void)manager_.AddController<Pod>({.name = "idle", .workers = 0}),
               std::invalid_argument);
  ListPods({PodText("a")});
  Start();
  AwaitSeen(1);
  Stop();

  EXPECT_THAT(Logged(), HasSubstr("the cache does not watch the view of Deployment"));
  EXPECT_THROW(manager_.Run({}), std::logic_error);
  EXPECT_THROW((void)manager_.AddController<Pod>({.name = "more"}), std::logic_error);
}

TEST_F(ManagerTest, AControllerWithoutAReconcilerDoesNotRun) {
  (void)manager_.AddController<Pod>({.name = "empty"});

  EXPECT_THROW(manager_.Run({}), std::logic_error);
}

TEST_F(ManagerTest, AnAnswerThatIsNoApiServersIsSaidWithItsAddress) {
  transport_->Reply("GET", "/api/v1", 200, "<html>hello</html>");
  manager_.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  Start();
  runner_.join();

  EXPECT_EQ(code_, 1);
  EXPECT_THAT(Logged(), HasSubstr("GET /api/v1: the answer is not an API server's"));
}

}  // namespace
}  // namespace kopp
