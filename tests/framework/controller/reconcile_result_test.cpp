#include "controller/controller_queue.hpp"
#include "controller/standalone_controller.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/reconcile.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class ReconcileResultTest : public StandaloneControllerTest {
 protected:
  /// Reconciles the Pod twice: the first time fails, the second time returns `result`.
  Snapshot ReconcileAfterAFailure(const Result& result) {
    bool failed = false;
    NewController([=](const ObjectKey&, Context&) mutable -> Result {
      if (!std::exchange(failed, true)) throw std::runtime_error("disk full");
      return result;
    });
    const Snapshot after_failure = ReconcileOnce();
    EXPECT_EQ(after_failure.waiting.at(0).failures, 1);
    return ReconcileOnce();
  }
};

TEST_F(ReconcileResultTest, SuccessResetsTheFailuresAndDoesNotRequeue) {
  NewController([](const ObjectKey&, Context&) { return Result{}; });

  const Snapshot queue = ReconcileOnce();

  EXPECT_EQ(queue.waiting_count + queue.ready_count + queue.processing_count, 0);
  EXPECT_EQ(controller_->queue().NumRequeues(key_), 0);
  EXPECT_EQ(Total("success"), "1");
}

TEST_F(ReconcileResultTest, RequeueAfterResetsTheFailuresAndKeepsThePriority) {
  const Snapshot queue = ReconcileAfterAFailure({.requeue_after = 1ms});

  EXPECT_EQ(queue.waiting.at(0).at, clock_.Now() + 1ms);
  EXPECT_EQ(queue.waiting.at(0).priority, 7);
  EXPECT_EQ(queue.waiting.at(0).failures, 0);
  EXPECT_EQ(Total("requeue_after"), "1");
}

// The difference of two times is negative a moment after the later one.
TEST_F(ReconcileResultTest, ANegativeRequeueAfterIsOverdueAndReconciledAgainAfterTheShortestDelay) {
  for (const Duration overdue : {Duration(-1), Duration(-1h), Duration::min()}) {
    NewController([=](const ObjectKey&, Context&) { return Result{.requeue_after = overdue}; });
    const Snapshot first = ReconcileOnce();
    ASSERT_EQ(first.waiting.size(), 1);
    EXPECT_EQ(first.waiting.at(0).at, clock_.Now() + 5ms);
    EXPECT_EQ(first.waiting.at(0).priority, 7);
    EXPECT_EQ(ReconcileOnce().waiting.at(0).failures, 2) << "it must not loop without a pause";
  }
  EXPECT_THAT(LogText(), Not(HasSubstr("Reconciler error")));
}

TEST_F(ReconcileResultTest, TheLongestRequeueAfterIsKept) {
  NewController(
      [](const ObjectKey&, Context&) { return Result{.requeue_after = Duration::max()}; });
  EXPECT_EQ(ReconcileOnce().waiting.at(0).at, TimePoint::max());
}

TEST_F(ReconcileResultTest, BackoffCountsAFailureOfTheLimiterButNoError) {
  NewController([](const ObjectKey&, Context&) { return Result{.backoff = true}; });

  const Snapshot first = ReconcileOnce();
  EXPECT_EQ(first.waiting.at(0).at, clock_.Now() + 5ms);
  EXPECT_EQ(first.waiting.at(0).priority, 7);
  const Snapshot second = ReconcileOnce();

  EXPECT_EQ(second.waiting.at(0).failures, 2) << "back-off does not reset the failures";
  EXPECT_EQ(Total("requeue"), "2");
  EXPECT_EQ(Metric("controller_runtime_reconcile_errors_total"), "0");
  EXPECT_THAT(LogText(), Not(HasSubstr("Reconciler error")));
}

TEST_F(ReconcileResultTest, RequeueAfterTakesPrecedenceOverBackoff) {
  NewController(
      [](const ObjectKey&, Context&) { return Result{.requeue_after = 1h, .backoff = true}; });

  const Snapshot queue = ReconcileOnce();

  EXPECT_EQ(queue.waiting.at(0).at, clock_.Now() + 1h);
  EXPECT_EQ(queue.waiting.at(0).failures, 0);
}

TEST_F(ReconcileResultTest, ThePriorityOfAResultAppliesToItsRequeue) {
  NewController(
      [](const ObjectKey&, Context&) { return Result{.requeue_after = 1s, .priority = -3}; });

  EXPECT_EQ(ReconcileOnce().waiting.at(0).priority, -3);
}

TEST_F(ReconcileResultTest, AnExceptionIsRetriedWithBackoffAndTheOriginalPriority) {
  NewController(
      [](const ObjectKey&, Context&) -> Result { throw std::runtime_error("disk full"); });

  const Snapshot queue = ReconcileOnce();

  EXPECT_EQ(queue.waiting.at(0).at, clock_.Now() + 5ms);
  EXPECT_EQ(queue.waiting.at(0).priority, 7);
  EXPECT_EQ(queue.waiting.at(0).failures, 1);
  EXPECT_EQ(Total("error"), "1");
  EXPECT_EQ(Metric("controller_runtime_reconcile_errors_total"), "1");
  EXPECT_EQ(Metric("controller_runtime_reconcile_panics_total"), "0");
}

TEST_F(ReconcileResultTest, KeysThatWaitAndKeysThatFailAreCounted) {
  int calls = 0;
  NewController([&](const ObjectKey&, Context&) -> Result {
    if (++calls == 1) throw std::runtime_error("disk full");
    if (calls == 2) throw TerminalError("invalid spec");
    return {.requeue_after = 1h};
  });
  auto reconcile_and_read = [this, events = std::size_t{0}]() mutable {
    controller_->queue().Add(key_, {.priority = 7});
    Start();
    AwaitEvents(++events);
    std::string failing = Metric("kopp_controller_failing_keys");
    Stop();
    return failing;
  };
  EXPECT_EQ(Metric("kopp_controller_failing_keys"), "0");
  EXPECT_EQ(Metric("kopp_controller_waiting_keys"), "0");

  EXPECT_EQ(reconcile_and_read(), "1") << "it is retried";
  EXPECT_EQ(Metric("kopp_controller_waiting_keys"), "1");
  EXPECT_EQ(reconcile_and_read(), "1") << "it is not retried, and fails";
  EXPECT_EQ(reconcile_and_read(), "0");
  EXPECT_EQ(Metric("kopp_controller_waiting_keys"), "1");
}

TEST_F(ReconcileResultTest, AKeyWhoseReconcileWasSupersededStillFailsIfItFailedBefore) {
  int calls = 0;
  std::string failing;
  NewController(
      [&](const ObjectKey& key, Context&) -> Result {
        if (++calls == 3) {
          failing = Metric("kopp_controller_failing_keys");
          return {};
        }
        if (calls == 2) controller_->queue().Add(key, {.payload = {.has_change = true}});
        throw std::runtime_error("disk full");
      },
      {.cancel_superseded = true});
  controller_->queue().Add(key_);
  Start();
  AwaitEvents(1);
  controller_->queue().Add(key_);
  AwaitEvents(3);
  Stop();

  EXPECT_EQ(failing, "1");
  EXPECT_EQ(Total("requeue"), "1") << "the second one was superseded";
}

TEST_F(ReconcileResultTest, AStoppedControllerHasNoKeysThatFail) {
  NewController(
      [](const ObjectKey&, Context&) -> Result { throw std::runtime_error("disk full"); });
  ReconcileOnce();
  EXPECT_EQ(Metric("kopp_controller_failing_keys"), "0") << "another replica may reconcile it";
}

TEST_F(ReconcileResultTest, ATerminalErrorIsCountedTwiceAndResetsTheFailures) {
  bool failed = false;
  NewController([&](const ObjectKey&, Context&) -> Result {
    if (!std::exchange(failed, true)) throw std::runtime_error("disk full");
    throw TerminalError("invalid spec");
  });
  ReconcileOnce();
  ReconcileOnce();

  EXPECT_EQ(controller_->queue().NumRequeues(key_), 0);
  EXPECT_EQ(controller_->queue().TakeSnapshot().waiting_count, 1) << "the retry of the first error";
  EXPECT_EQ(Total("error"), "2");
  EXPECT_EQ(Metric("controller_runtime_reconcile_errors_total"), "2");
  EXPECT_EQ(Metric("controller_runtime_terminal_reconcile_errors_total"), "1");
  EXPECT_THAT(LogText(), HasSubstr("err=\"terminal error: invalid spec\""));
}

TEST_F(ReconcileResultTest, AnExceptionThatIsNotAStdExceptionIsCountedAsAPanicAndRetried) {
  NewController([](const ObjectKey&, Context&) -> Result { throw 42; });  // NOLINT

  EXPECT_EQ(ReconcileOnce().waiting_count, 1);
  EXPECT_EQ(Total("error"), "1");
  EXPECT_EQ(Metric("controller_runtime_reconcile_panics_total"), "1");
}

TEST_F(ReconcileResultTest, OutOfMemoryIsRetried) {
  NewController([](const ObjectKey&, Context&) -> Result { throw std::bad_alloc(); });

  const Snapshot queue = ReconcileOnce();

  EXPECT_EQ(queue.waiting_count, 1);
  EXPECT_EQ(queue.processing_count, 0);
}

TEST_F(ReconcileResultTest, ALimiterThatThrowsInForgetDelaysTheObjectByOneSecond) {
  class Thrower final : public workqueue::RateLimiter<ObjectKey> {
   public:
    Duration When(const ObjectKey&) override { return {}; }
    void Forget(const ObjectKey&) override { throw std::bad_alloc(); }
    int NumRequeues(const ObjectKey&) override { return 0; }
  };
  NewController([](const ObjectKey&, Context&) { return Result{}; },
                {.limiter = std::make_unique<Thrower>(), .reasons = true});

  const Snapshot queue = ReconcileOnce();

  EXPECT_EQ(queue.waiting.at(0).at, clock_.Now() + 1s);
  EXPECT_EQ(queue.waiting.at(0).payload.reasons.ToString(), "retry");
  EXPECT_EQ(queue.processing_count, 0);
}

TEST_F(ReconcileResultTest, TheResultsAreLoggedOnceForEachStart) {
  NewController([](const ObjectKey&, Context&) { return Result{}; });
  const auto lines = [this] {
    const std::string log = LogText();
    std::size_t count = 0;
    for (auto at = log.find("Workers finished"); at != std::string::npos;
         at = log.find("Workers finished", at + 1)) {
      ++count;
    }
    return count;
  };
  ReconcileOnce();

  Stop();
  EXPECT_EQ(lines(), 1);

  ReconcileOnce();
  EXPECT_EQ(lines(), 2);
}

TEST_F(ReconcileResultTest, AnExceptionOfAnObserverDoesNotRetryTheReconcile) {
  NewController([](const ObjectKey&, Context&) { return Result{}; });
  controller_->AddObserver([](const ReconcileEvent&) { throw std::runtime_error("observer"); });

  EXPECT_EQ(ReconcileOnce().waiting_count, 0);
}

}  // namespace
}  // namespace kopp
