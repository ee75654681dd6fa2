#include "controller/controller_fixture.hpp"
#include "net/url_query.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/predicates.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr const char* kStatusOfA = "/api/v1/namespaces/ns/pods/a/status";

/// Tests of a controller of Pods that writes errors to their status. The scripted API server sends
/// an event for each write that changes the status.
class OwnWritesBackoffTest : public ControllerTest {
 protected:
  OwnWritesBackoffTest() {
    transport_->On("PATCH", kStatusOfA, [this](const ApiRequest& request) {
      const std::string query = request.target.substr(request.target.find('?') + 1);
      const std::string manager = detail::ParseQuery(query).find("fieldManager")->second;
      const std::lock_guard lock(mutex_);
      if (std::exchange(applied_[manager], request.body) != request.body) {
        stored_ = NextVersion(manager);
        SendPodEvent("MODIFIED", stored_);
      }
      return ApiResponse{.status = 200, .body = stored_};
    });
  }
  /// Returns a Pod in the next version, after a write of its status by `manager`.
  std::string NextVersion(const std::string& manager, const std::string& name = "a") {
    const std::string version = std::to_string(++version_);
    std::string pod = PodJson(name, R"(,"generation":1,"managedFields":[{"manager":")" + manager +
                                        R"(","operation":"Apply","subresource":"status",)"
                                        R"("time":"2026-11-29T14:00:00Z"}])");
    return pod.replace(pod.find(R"("5")"), 3, '"' + version + '"');
  }
  /// Returns options that write each error to the status, and then record "wrote".
  ControllerOptions WritingErrors() {
    return {.on_error = [this](const ReconcileError& error, Context& context) {
      WriteStatus(context.client, error.message);
      RecordCall("wrote");
    }};
  }
  static void WriteStatus(const Client& client, const std::string& message) {
    client.ApplyStatus(Pod{.metadata = {.name = "a", .ns = "ns"}},
                       k8s::core::v1::PodStatus{.message = message});
  }

  std::atomic<int> version_{5};
  std::mutex mutex_;
  std::map<std::string, std::string> applied_;  // by field manager; guarded by mutex_
  std::string stored_;                          // guarded by mutex_
};

TEST_F(OwnWritesBackoffTest, AnErrorThatDiffersInEachStatusDoesNotDefeatTheBackoff) {
  SetPods({PodJson("a", R"(,"generation":1)")});
  int calls = 0;
  Controller& controller =
      manager_.AddController<Pod>(WritingErrors()).Reconcile([&](const Pod&, Context&) -> Result {
        RecordCall("call");
        throw std::runtime_error("AccessDenied, request id " + std::to_string(++calls));
      });
  Start();
  transport_->Await("WATCH", kPods);

  AdvanceUntilCalls(controller, std::size_t{2} * 10, 1ms);

  EXPECT_GE(clock_.Now() - TimePoint{}, 2555ms) << "5 ms, 10 ms, …, 1280 ms";
  EXPECT_EQ(AwaitCalls(20).size(), 20);
  Stop();
}

TEST_F(OwnWritesBackoffTest, AForeignChangeCutsTheDelayShort) {
  SetPods({PodJson("a", R"(,"generation":1)")});
  manager_.AddController<Pod>(WritingErrors()).Reconcile([&](const Pod& pod, Context&) -> Result {
    RecordCall(pod.metadata.resourceVersion);
    throw std::runtime_error("disk full in version " + pod.metadata.resourceVersion);
  });
  Start();
  AwaitCalls(2);

  SendPodEvent("MODIFIED", NextVersion("a-user"));  // the clock stands still

  EXPECT_THAT(AwaitCalls(4), ElementsAre("5", "wrote", "7", "wrote"));
  Stop();
}

TEST_F(OwnWritesBackoffTest, AnOwnWriteDoesNotReviveAKeyAfterATerminalError) {
  SetPods({PodJson("a", R"(,"generation":1)")});
  manager_.AddController<Pod>(WritingErrors()).Reconcile([&](const Pod& pod, Context&) -> Result {
    RecordCall(pod.metadata.name + pod.metadata.resourceVersion);
    if (pod.metadata.name != "a") return {};
    throw TerminalError("invalid spec in version " + pod.metadata.resourceVersion);
  });
  Start();
  AwaitCalls(2);

  SendPodEvent("ADDED", NextVersion("a-user", "b"));
  AwaitCalls(3);  // if the own write reconciled a, that would come next
  SendPodEvent("ADDED", NextVersion("a-user", "c"));
  EXPECT_THAT(AwaitCalls(4), ElementsAre("a5", "wrote", "b7", "c8"));
  SendPodEvent("MODIFIED", NextVersion("a-user"));
  EXPECT_THAT(AwaitCalls(6), ElementsAre("a5", "wrote", "b7", "c8", "a9", "wrote"));
  Stop();
}

TEST_F(OwnWritesBackoffTest, BackoffAndAnOverdueRequeueAfterWaitForTheLimiter) {
  SetPods({PodJson("a", R"(,"generation":1)")});
  const auto result = [](int call) -> Result {
    if (call % 2 == 0) return {.backoff = true};
    return {.requeue_after = -1s};
  };
  int calls = 0;
  Controller& controller =
      manager_.AddController<Pod>().Reconcile([&](const Pod&, Context& context) -> Result {
        RecordCall("call");
        WriteStatus(context.client, std::to_string(++calls));
        return result(calls);
      });
  Start();
  transport_->Await("WATCH", kPods);

  AdvanceUntilCalls(controller, 8, 1ms);

  EXPECT_GE(clock_.Now() - TimePoint{}, 635ms) << "5 ms, 10 ms, …, 320 ms";
  Stop();
}

TEST_F(OwnWritesBackoffTest, AReconcileFollowsTheOwnWriteOfASuccessfulOne) {
  SetPods({PodJson("a", R"(,"generation":1)")});
  bool wrote = false;
  manager_.AddController<Pod>().Reconcile([&](const Pod& pod, Context& context) -> Result {
    RecordCall(pod.metadata.resourceVersion);
    if (std::exchange(wrote, true)) return {};
    WriteStatus(context.client, "Ready");
    return {.requeue_after = 1h};
  });
  Start();

  EXPECT_THAT(AwaitCalls(2), ElementsAre("5", "6"));
  Stop();
}

TEST_F(OwnWritesBackoffTest, TheWriteOfAnotherControllerIsForeign) {
  SetPods({PodJson("a", R"(,"generation":1)")});
  ControllerOptions options = WritingErrors();
  options.name = "fails";
  manager_.AddController<Pod>(std::move(options)).Reconcile([&](const Pod&, Context&) -> Result {
    RecordCall("fails");
    throw std::runtime_error("disk full");
  });
  std::atomic<bool> wrote = false;
  manager_.AddController<Pod>({.name = "writes"})
      .Reconcile([&](const Pod& pod, Context& context) -> Result {
        AwaitCalls(2);
        if (wrote.exchange(true)) return {};
        context.client.WithFieldManager("first").ApplyStatus(
            pod, k8s::core::v1::PodStatus{.message = "hello"});
        return {};
      });
  Start();

  AwaitCalls(4);  // the clock stands still
  Stop();
  EXPECT_THAT(AwaitCalls(4), ElementsAre("fails", "wrote", "fails", "wrote"));
}

TEST_F(OwnWritesBackoffTest, OwnWritesDoNotSupersedeAReconcile) {
  SetPods({PodJson("a", R"(,"generation":1)")});
  bool wrote = false;
  manager_.AddController<Pod>({.cancel_superseded = true})
      .Where(Predicate<Pod>{.on_update =
                                [this](const Pod&, const Pod&) {
                                  RecordCall("event");
                                  return true;
                                }})
      .Reconcile([&](const Pod& pod, Context& context) -> Result {
        if (std::exchange(wrote, true)) {
          RecordCall("again");
          return {};
        }
        transport_->Await("WATCH", kPods);
        WriteStatus(context.client, "Busy");
        WriteStatus(context.client, "Still busy");
        AwaitCalls(2);  // the first event was delivered
        static_cast<void>(context.cache.Get<Pod>(KeyOf(pod)));
        RecordCall(context.Superseded() ? "superseded" : "not superseded");
        return {};
      });
  Start();

  AwaitCalls(4);
  Stop();
  auto calls = AwaitCalls(4);
  EXPECT_LE(calls.size(), 5) << "the last event may reconcile once more";
  calls.resize(4);
  EXPECT_THAT(calls, ElementsAre("event", "event", "not superseded", "again"));
}

}  // namespace
}  // namespace kopp
