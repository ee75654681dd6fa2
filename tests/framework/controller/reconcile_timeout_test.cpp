#include "controller/controller_queue.hpp"
#include "controller/standalone_controller.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Blocks until a stop is requested.
void AwaitStop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any cv;
  std::unique_lock lock{mutex};
  cv.wait(lock, stop, [] { return false; });
}

class ReconcileTimeoutTest : public StandaloneControllerTest {};

TEST_F(ReconcileTimeoutTest, AtTheTimeoutAStopIsRequestedAndCallsAreCancelled) {
  std::atomic<bool> cancelled{false};
  NewController(
      [&](const ObjectKey& key, Context& context) -> Result {
        AwaitStop(context.stop);
        while (true) {  // the calls are cancelled after the stop
          try {
            (void)context.client.Get<Pod>(key);
          } catch (const TransportError& error) {
            cancelled = error.kind() == TransportError::Kind::kCancelled;
            throw;
          }
        }
      },
      {.reconcile_timeout = 30s});
  controller_->queue().Add(key_);
  Start();
  clock_.AwaitSleeperFor(30s);
  clock_.Advance(30s);

  EXPECT_TRUE(AwaitEvents(1).front().timed_out);
  Stop();
  EXPECT_TRUE(cancelled);
  EXPECT_THAT(LogText(), HasSubstr("(the reconcile exceeded its reconcile_timeout of 30000 ms)"));
  EXPECT_EQ(Metric("controller_runtime_reconcile_timeouts_total"), "1");
  EXPECT_EQ(controller_->queue().TakeSnapshot().waiting_count, 1) << "it is retried";
}

TEST_F(ReconcileTimeoutTest, AReconcileThatReturnsInTimeIsNotCounted) {
  NewController([](const ObjectKey&, Context&) { return Result{}; }, {.reconcile_timeout = 30s});

  ReconcileOnce();
  clock_.Advance(1h);
  ReconcileOnce();

  EXPECT_EQ(Metric("controller_runtime_reconcile_timeouts_total"), "0");
}

TEST_F(ReconcileTimeoutTest, TheTimerOfAnEarlierReconcileDoesNotStopTheNext) {
  std::latch second_runs{1};
  std::latch finish{1};
  std::atomic<bool> stopped{false};
  int calls = 0;
  NewController(
      [&](const ObjectKey&, Context& context) {
        if (++calls == 1) clock_.AwaitSleeperFor(30s);  // the timer thread sleeps
        if (calls == 2) {
          second_runs.count_down();
          finish.wait();
          stopped = context.stop.stop_requested();
        }
        return Result{};
      },
      {.reconcile_timeout = 30s});
  ReconcileOnce();
  clock_.Advance(20s);
  controller_->queue().Add(key_);
  Start();
  second_runs.wait();
  clock_.Advance(10s);
  clock_.AwaitSleeperFor(20s);  // the timer thread has seen that the first timer was cancelled
  finish.count_down();
  AwaitEvents(2);

  EXPECT_FALSE(stopped);
}

TEST_F(ReconcileTimeoutTest, AReconcileThatIgnoresItsTimeoutIsNeverRunTwiceForOneKey) {
  std::latch finish{1};
  std::atomic<int> hanging{0};
  NewController(
      [&](const ObjectKey& key, Context&) {
        if (key == key_) {
          ++hanging;
          finish.wait();
        }
        return Result{};
      },
      {.workers = 3, .reconcile_timeout = 30s});
  controller_->queue().Add(key_);
  Start();
  clock_.AwaitSleeperFor(30s);
  while (hanging == 0) std::this_thread::yield();  // the timer starts before the reconcile
  clock_.Advance(30s);
  for (int i = 0; i < 20; ++i) {
    controller_->queue().Add(key_);
    controller_->queue().Add({"ns", "other-" + std::to_string(i)});
  }
  AwaitEvents(20);

  EXPECT_EQ(hanging, 1);
  finish.count_down();
  AwaitEvents(22);
  EXPECT_EQ(hanging, 2) << "it is reconciled again after it has returned";
}

TEST_F(ReconcileTimeoutTest, AShutdownRequestsAStopAndDoesNotCancelCalls) {
  transport_.Respond("GET", "/api/v1/namespaces/ns/pods/a", 200,
                     R"({"metadata":{"name":"a","namespace":"ns"}})");
  std::latch started{1};
  std::atomic<bool> found{false};
  NewController(
      [&](const ObjectKey& key, Context& context) {
        started.count_down();
        AwaitStop(context.stop);
        found = context.client.Get<Pod>(key).has_value();
        return Result{};
      },
      {.reconcile_timeout = 30s});
  controller_->queue().Add(key_);
  Start();
  started.wait();
  Stop();

  EXPECT_TRUE(found);
  EXPECT_FALSE(AwaitEvents(1).front().timed_out);
}

TEST_F(ReconcileTimeoutTest, ACallThatTheShutdownCancelsIsLoggedAtInfo) {
  std::latch started{1};
  NewController(
      [&](const ObjectKey& key, Context& context) -> Result {
        started.count_down();
        AwaitStop(context.client.stop());
        (void)context.client.Get<Pod>(key);
        return {};
      },
      {.reconcile_timeout = 30s});
  controller_->queue().Add(key_);
  Start();
  started.wait();
  controller_->RequestStop();
  cancel_calls_.request_stop();
  Stop();

  EXPECT_THAT(LogText(), HasSubstr("\"Reconcile failed with an expected error, retrying\""));
}

TEST_F(ReconcileTimeoutTest, TheErrorHookCanWriteAfterATimeout) {
  transport_.Respond("GET", "/api/v1/namespaces/ns/pods/a", 200,
                     R"({"metadata":{"name":"a","namespace":"ns"}})");
  std::atomic<bool> found{false};
  NewController(
      [](const ObjectKey&, Context& context) -> Result {
        AwaitStop(context.stop);
        throw std::runtime_error("gave up");
      },
      {.reconcile_timeout = 30s, .on_error = [&](const ReconcileError& error, Context& context) {
         found = error.timed_out && context.client.Get<Pod>(context.key).has_value();
       }});
  controller_->queue().Add(key_);
  Start();
  clock_.AwaitSleeperFor(30s);
  clock_.Advance(30s);
  AwaitEvents(1);

  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace kopp
