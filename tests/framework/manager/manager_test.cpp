#include "manager_fixture.hpp"
#include "support/raw_server.hpp"
#include "support/scratch_folder.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <iostream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(ManagerTest, AControllerMayHaveTheLongestPeriod) {
  Manager manager{Options{.sync_period = Duration::max(), .transport = transport_}};
  for (int i = 0; i < 100; ++i) {  // the period has a random part
    EXPECT_NO_THROW((void)manager.AddController<Pod>({.name = std::to_string(i)}));
  }
}

TEST_F(ManagerTest, AControllerWhoseNameIsNoFieldManagerIsRejected) {
  EXPECT_THROW((void)manager_.AddController<Pod>({.name = "a\nb"}), std::invalid_argument);
  EXPECT_NO_THROW((void)manager_.AddController<Pod>({.name = "a\nb", .field_manager = "ab"}));
}

TEST_F(ManagerTest, AfterAStopTheCurrentReconcileFinishesAndNoOtherStarts) {
  SetPods({PodJson("a"), PodJson("b")});
  manager_.AddController<Pod>().Reconcile([this](const Pod& pod, Context& context) {
    RecordCall("begin");
    std::mutex mutex;
    std::condition_variable_any cv;
    std::unique_lock lock{mutex};
    // Blocks until a stop is requested.
    cv.wait(lock, context.stop, [] { return false; });
    // Does not throw: API calls are cancelled only after the timeout.
    (void)context.client.Get<Pod>(KeyOf(pod));
    RecordCall("end");
    return Result{};
  });
  Start();
  AwaitCalls(1);

  EXPECT_EQ(Stop(), 0);

  EXPECT_THAT(AwaitCalls(2), ElementsAre("begin", "end"));
  EXPECT_THAT(LogText(), HasSubstr("All workers finished"));
}

TEST_F(ManagerTest, TheApiCallsOfAReconcileAreCancelledBeforeTheGracefulShutdownTimeout) {
  SetPods({PodJson("a")});
  std::atomic<bool> cancelled{false};
  manager_.AddController<Pod>().Reconcile([&](const Pod& pod, Context& context) -> Result {
    RecordCall("begin");
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
  AwaitCalls(1);

  runner_.request_stop();
  clock_.AwaitSleeperFor(25s);  // a quarter of the timeout remains, but at most 5 s
  clock_.Advance(25s);

  EXPECT_EQ(Stop(), 0);
  EXPECT_TRUE(cancelled);
  EXPECT_THAT(LogText(), HasSubstr("cancelling API calls"));
}

TEST_F(ManagerTest, AReadThatStartsAnInformerEndsBeforeTheGracefulShutdownTimeout) {
  SetPods({PodJson("a")});
  transport_->Respond("GET", kDeployments, 500, "{}");
  Manager manager{Options{.cache = {.start_informers_on_read = true, .sync_timeout = 0s},
                          .log = Logger({.write =
                                             [this](std::string_view line) {
                                               const std::lock_guard guard{mutex_};
                                               log_ += line;
                                             }}),
                          .transport = transport_,
                          .clock = clock_}};
  manager.AddController<Pod>().Reconcile([](const Pod&, Context& context) -> Result {
    (void)context.cache.List<Deployment>();
    return {};
  });
  std::stop_source stop;
  auto code = std::async(std::launch::async, [&] { return manager.Run(stop.get_token()); });
  transport_->Await("GET", kDeployments);

  stop.request_stop();
  clock_.AwaitSleeperFor(25s);
  clock_.Advance(25s);

  EXPECT_EQ(code.get(), 0);
  EXPECT_THAT(LogText(), HasSubstr("no complete list of Deployment objects before the stop"));
}

TEST_F(ManagerTest, ACallThatIsRejectedWithAShortRetryAfterIsRetriedWithinTheReconcile) {
  SetPods({PodJson("a")});
  transport_->On("GET", "/api/v1/namespaces/ns/pods/a", [](const ApiRequest& request) {
    if (request.attempt == 1) return ApiResponse{.status = 429, .retry_after = 1s};
    return ApiResponse{.status = 200, .body = PodJson("a")};
  });
  manager_.AddController<Pod>().Reconcile([this](const Pod& pod, Context& context) {
    RecordCall("begin");
    (void)context.client.Get<Pod>(KeyOf(pod));
    RecordCall("end");
    return Result{};
  });
  Start();
  AwaitCalls(1);
  clock_.AwaitSleepers(4);  // the three of AwaitIdle, and the worker before its second try

  clock_.Advance(2s);

  EXPECT_THAT(AwaitCalls(2), ElementsAre("begin", "end"));
}

TEST_F(ManagerTest, CallsAndWatchesOfTheManagerAreObserved) {
  std::mutex mutex;
  std::set<std::string> seen;
  Manager manager{Options{.log = Logger({.write = [](std::string_view) {}}),
                          .on_request =
                              [&](const RequestEvent& event) {
                                const std::lock_guard guard{mutex};
                                seen.insert(std::string(event.method) + " " + event.path_template +
                                            (event.stream ? " stream" : ""));
                              },
                          .transport = transport_,
                          .clock = clock_}};
  manager.AddController<Pod>().Reconcile([](const Pod& pod, Context& context) {
    (void)context.client.Get<Pod>(KeyOf(pod));
    context.events.Normal(pod, "Seen", "hello");
    return Result{};
  });
  SetPods({PodJson("a")});
  std::jthread runner([&](const std::stop_token& stop) { manager.Run(stop); });
  transport_->Await("POST", "/api/v1/namespaces/ns/events");
  transport_->Await("WATCH", kPods);
  runner.request_stop();
  runner.join();

  EXPECT_THAT(seen,
              ElementsAre("GET /api/v1", "GET /api/v1/namespaces/{namespace}/pods/{name}",
                          "GET /api/v1/pods stream", "POST /api/v1/namespaces/{namespace}/events"));
}

TEST_F(ManagerTest, RunReturns0IfAStopIsRequestedBeforeTheCachesHaveSynced) {
  transport_->Respond("GET", kPods, 403, R"({"reason":"Forbidden"})");
  manager_.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  Start();
  transport_->Await("GET", kPods);

  EXPECT_EQ(Stop(), 0);
  EXPECT_THAT(LogText(), HasSubstr("Stopped before the caches had synced"));
}

// Blocks until the first list of an informer has failed.
void AwaitListFailure(Manager& manager) {
  const auto has_failed = [](const UnsyncedInformer& informer) {
    return !informer.problem.empty();
  };
  while (std::ranges::none_of(manager.cache().NotSynced(), has_failed)) std::this_thread::yield();
}

TEST_F(ManagerTest, RunReturns1AndNamesTheKindIfTheCachesDoNotSyncInTime) {
  transport_->Respond("GET", kPods, 403, R"({"reason":"Forbidden","message":"not for you"})");
  manager_.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  Start();
  AwaitListFailure(manager_);

  AdvanceUntilLogged("Cannot start");
  runner_.join();

  EXPECT_EQ(code_, 1);
  EXPECT_GE(clock_.Now() - TimePoint{}, 2min);
  EXPECT_THAT(LogText(), HasSubstr("Cannot start: the caches have not synced in time\" "
                                   "err=\"Pod: LIST /api/v1/pods?resourceVersion=0: 403 Forbidden: "
                                   "not for you"));
}

TEST_F(ManagerTest, TheErrorHandlerOfTheCacheOptionsGetsTheErrorsOfWatches) {
  transport_->Respond("GET", kPods, 403, R"({"reason":"Forbidden"})");
  std::promise<std::string> failed;
  Manager manager{Options{.cache = {.on_error =
                                        [&](const informer::InformerError& error) {
                                          failed.set_value(error.informer);
                                        }},
                          .log = Logger({.write = [](std::string_view) {}}),
                          .transport = transport_,
                          .clock = clock_}};
  manager.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  std::jthread runner([&](const std::stop_token& stop) { manager.Run(stop); });

  EXPECT_EQ(failed.get_future().get(), "pods.v1.");
}

TEST_F(ManagerTest, AMissingKindIsWaitedForIfTheOptionsSaySo) {
  transport_->Respond("GET", "/apis/apps/v1", 404, "{}");
  transport_->Respond("GET", kDeployments, 404, "{}");
  Manager manager{Options{.cache = {.wait_if_missing = true},
                          .log = Logger({.write = [](std::string_view) {}}),
                          .transport = transport_,
                          .clock = clock_}};
  manager.AddController<Deployment>().Reconcile([this](const Deployment&, Context&) {
    RecordCall("call");
    return Result{};
  });
  std::jthread runner([&](const std::stop_token& stop) { EXPECT_EQ(manager.Run(stop), 0); });
  AwaitListFailure(manager);
  const TimePoint much_later = clock_.Now() + 10min;
  while (clock_.Now() < much_later) {
    clock_.AwaitSleepers(1);
    clock_.Advance(1min);
  }
  EXPECT_FALSE(manager.cache().NotSynced().empty());

  transport_->Respond("GET", kDeployments, 200,
                      R"({"kind":"DeploymentList","metadata":{"resourceVersion":"5"},"items":[
                          {"metadata":{"name":"web","namespace":"ns"}}]})");

  while (!manager.cache().NotSynced().empty()) clock_.Advance(1min);
  AwaitCalls(1);
}

TEST_F(ManagerTest, RunLogsOneLineAndReturns1IfTheServerDoesNotServeAKind) {
  transport_->Respond("GET", "/apis/apps/v1", 404, "{}");
  manager_.AddController<Deployment>().Reconcile(
      [](const Deployment&, Context&) { return Result{}; });
  Start();
  runner_.join();

  EXPECT_EQ(code_, 1);
  EXPECT_THAT(LogText(), HasSubstr("the API server does not serve deployments of apps/v1: check "
                                   "the version of the server"));
  EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1);
}

TEST_F(ManagerTest, RunLogsTheErrorAndReturns1IfTheServerIsUnreachable) {
  transport_->On("GET", "/api/v1", [](const ApiRequest&) -> ApiResponse {
    throw TransportError(TransportError::Kind::kUnreachable, "GET …: connection refused");
  });
  manager_.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  Start();
  AdvanceUntilLogged("Cannot start");  // the call is retried
  runner_.join();

  EXPECT_EQ(code_, 1);
  EXPECT_THAT(LogText(), HasSubstr("\"Cannot start\" err=\"GET …: connection refused\""));
}

TEST(ManagerConfigTest, AnInvalidConfigurationIsReportedByRunNotByTheConstructor) {
  std::string log;
  Manager manager{Options{.kubeconfig = "/nowhere/kubeconfig",
                          .reject_unwatched_reads = false,
                          .log = Logger({.write = [&](std::string_view line) { log += line; }})}};
  manager.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });

  EXPECT_EQ(manager.Run({}), 1);
  EXPECT_THAT(log, HasSubstr("/nowhere/kubeconfig"));
}

/// Returns what a Manager logs that is constructed with a kubeconfig whose cluster has `setting`.
std::string LogOfManagerWithCluster(const std::string& setting) {
  const testing::ScratchFolder folder;
  const auto kubeconfig = folder.Write("config",
                                       "{kind: Config, current-context: c, contexts: [{name: c, "
                                       "context: {cluster: c}}], clusters: [{name: c, cluster: "
                                       "{server: 'https://127.0.0.1:1', " +
                                           setting + "}}]}");
  std::string log;
  const Manager manager{
      Options{.kubeconfig = kubeconfig.string(),
              .log = Logger({.write = [&](std::string_view line) { log += line; }})}};
  return log;
}

TEST(ManagerConfigTest, AWarningIsLoggedIfTheServerCertificateIsNotVerified) {
  EXPECT_THAT(LogOfManagerWithCluster("insecure-skip-tls-verify: true"),
              AllOf(HasSubstr("The certificate of the API server is not verified"),
                    HasSubstr("server=\"https://127.0.0.1:1\"")));
  EXPECT_EQ(LogOfManagerWithCluster("insecure-skip-tls-verify: false"), "");
}

TEST(ManagerConfigTest, RequestsHaveTheUserAgentOfTheProgramAndAreObservedWithTheirHost) {
  using testing::RawServer;
  RawServer server({testing::AlwaysRespond(testing::MakeResponse(404, "{}"))});
  const testing::ScratchFolder folder;
  const auto kubeconfig = folder.Write("config",
                                       "{kind: Config, current-context: c, contexts: [{name: c, "
                                       "context: {cluster: c}}], clusters: [{name: c, cluster: "
                                       "{server: '" +
                                           server.Url() + "'}}]}");
  std::string host;
  Manager manager{Options{.name = "web-operator",
                          .version = "v1.2",
                          .kubeconfig = kubeconfig.string(),
                          .reject_unwatched_reads = false,
                          .log = Logger({.write = [](std::string_view) {}}),
                          .on_request = [&](const RequestEvent& event) { host = event.host; }}};
  manager.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });

  EXPECT_EQ(manager.Run({}), 1);

  EXPECT_THAT(server.Requests().at(0).head, HasSubstr("web-operator/v1.2 (linux/"));
  EXPECT_EQ(host, "127.0.0.1:" + std::to_string(server.port()));
}

TEST_F(ManagerTest, AddControllerThrowsIfTheNameIsInUse) {
  (void)manager_.AddController<Pod>({.name = "pods"});

  EXPECT_THROW((void)manager_.AddController<Pod>({.name = "pods"}), std::logic_error);
}

TEST_F(ManagerTest, AddControllerThrowsIfThereAreNoWorkers) {
  EXPECT_THROW((void)manager_.AddController<Pod>({.name = "idle", .workers = 0}),
               std::invalid_argument);
}

TEST_F(ManagerTest, ReadingAKindThatTheCacheDoesNotWatchIsLogged) {
  SetPods({PodJson("a")});
  manager_.AddController<Pod>().Reconcile([this](const Pod&, Context& context) {
    RecordCall("call");
    (void)context.cache.Get<Deployment>({"ns", "d"});
    return Result{};
  });
  Start();
  AwaitCalls(1);
  Stop();

  EXPECT_THAT(LogText(), HasSubstr("the cache does not watch this view of Deployment"));
}

TEST_F(ManagerTest, RunAndAddControllerThrowAfterRun) {
  manager_.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  Start();
  transport_->Await("WATCH", kPods);
  Stop();

  EXPECT_THROW(manager_.Run({}), std::logic_error);
  EXPECT_THROW((void)manager_.AddController<Pod>({.name = "more"}), std::logic_error);
}

TEST_F(ManagerTest, RunThrowsForAControllerWithoutAReconciler) {
  (void)manager_.AddController<Pod>({.name = "empty"});

  EXPECT_THROW(manager_.Run({}), std::logic_error);
}

TEST_F(ManagerTest, RunLogsTheRequestIfTheResponseIsNotFromAnApiServer) {
  transport_->Respond("GET", "/api/v1", 200, "<html>hello</html>");
  manager_.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  Start();
  runner_.join();

  EXPECT_EQ(code_, 1);
  EXPECT_THAT(LogText(),
              HasSubstr("GET /api/v1: the response is not from a Kubernetes API server"));
}

}  // namespace
}  // namespace kopp
