#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kPods = "/api/v1/pods";
constexpr const char* kDeployments = "/apis/apps/v1/deployments";

std::string PodText(const std::string& name, const std::string& more = "") {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","namespace":"ns","uid":"u-)" + name + R"(","resourceVersion":"5")" + more + "}}";
}

/// A manager over a scripted API server that serves Pods and Deployments; a test counts what its
/// reconciler was called for.
class ManagerTest : public ::testing::Test {
 protected:
  ManagerTest() {
    transport_->Reply("GET", "/api/v1", 200, R"({"resources":[{"name":"pods"}]})");
    transport_->Reply("GET", "/apis/apps/v1", 200, R"({"resources":[{"name":"deployments"}]})");
    ListPods({});
    transport_->Reply("GET", kDeployments, 200,
                      R"({"kind":"DeploymentList","metadata":{"resourceVersion":"5"},"items":[]})");
  }
  ~ManagerTest() override { Stop(); }

  void ListPods(const std::vector<std::string>& pods) {
    std::string items;
    for (const std::string& pod : pods) items += (items.empty() ? "" : ",") + pod;
    transport_->Reply(
        "GET", kPods, 200,
        R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[)" + items + "]}");
  }
  void Send(const std::string& type, const std::string& object) {
    transport_->SendToWatch(kPods, R"({"type":")" + type + R"(","object":)" + object + "}\n");
  }

  void Start() {
    runner_ = std::jthread([this](const std::stop_token& stop) { code_ = manager_.Run(stop); });
  }
  int Stop() {
    runner_.request_stop();
    if (runner_.joinable()) runner_.join();
    return code_;
  }

  void Saw(const std::string& what) {
    {
      const std::lock_guard guard{mutex_};
      seen_.push_back(what);
    }
    changed_.notify_all();
  }
  std::vector<std::string> AwaitSeen(std::size_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return seen_.size() >= count; });
    return seen_;
  }
  std::string Logged() {
    const std::lock_guard guard{mutex_};
    return log_;
  }
  /// Until the watch, the queue's delays and the manager all wait for time to pass.
  void AwaitQuiet() { clock_.AwaitSleepers(3); }

  /// Lets time pass until the reconciler was called `count` times in all.
  void PassUntilSeen(std::size_t count, Duration step) {
    while (true) {
      AwaitQuiet();
      {
        const std::lock_guard guard{mutex_};
        if (seen_.size() >= count) return;
      }
      clock_.Advance(step);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> seen_;
  std::string log_;
  std::atomic<int> code_{-1};
  testing::FakeClock clock_;
  std::shared_ptr<testing::ScriptedTransport> transport_ =
      std::make_shared<testing::ScriptedTransport>(clock_);
  Manager manager_{Options{.name = "test-operator",
                           .log = Logger({.write =
                                              [this](std::string_view line) {
                                                const std::lock_guard guard{mutex_};
                                                log_ += line;
                                              }}),
                           .transport = transport_,
                           .clock = clock_}};
  std::jthread runner_;
};

TEST_F(ManagerTest, EachObjectThatIsThereAtStartIsReconciledOnce) {
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

TEST_F(ManagerTest, AReconcilerFindsInTheCacheWhatMadeItRun) {
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

TEST_F(ManagerTest, AReconcilerOfObjectsIsNotCalledForOneThatIsGone) {
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

TEST_F(ManagerTest, AnythingThrownIsLoggedAndTriedAgainWithTwiceThePauseEachTime) {
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

TEST_F(ManagerTest, ATerminalErrorIsLoggedAndNotTriedAgainUntilTheObjectChanges) {
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

TEST_F(ManagerTest, ARequeueAfterRunsAgainWhenItsTimeHasCome) {
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

TEST_F(ManagerTest, AChangeOfAnOwnedObjectReconcilesItsOwner) {
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

TEST_F(ManagerTest, AChangeOfAWatchedObjectReconcilesWhatTheMapNames) {
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

TEST_F(ManagerTest, EveryObjectIsReconciledAgainAtEachResync) {
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

TEST_F(ManagerTest, AKeyInOneWorkersHandIsLeftAloneByTheOthersAndRunOnceMoreAfterwards) {
  std::latch first_may_end{1};
  std::atomic<bool> first{true};
  manager_.AddController<Pod>({.workers = 4}).Reconcile([&](const Pod& pod, Context&) {
    Saw(pod.metadata.name);
    if (first.exchange(false)) first_may_end.wait();
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

TEST_F(ManagerTest, ALimiterThatThrowsCostsASecondAndNoWorker) {
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

TEST_F(ManagerTest, AnEventOfAReconcilerCarriesTheProgramsName) {
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
