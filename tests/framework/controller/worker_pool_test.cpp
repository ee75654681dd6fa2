#include "controller/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class WorkerPoolTest : public ::testing::Test {
 protected:
  /// Processes a key: counts it, and blocks until FinishCurrent or FinishAll.
  void Block(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    ++running_;
    most_running_ = std::max(most_running_, running_);
    changed_.notify_all();
    changed_.wait(lock, [&, before = finished_] { return finish_all_ || finished_ > before; });
    --running_;
    ++processed_;
    stopped_ = stopped_ || stop.stop_requested();
    changed_.notify_all();
  }
  WorkerPool& NewPool(int workers) {
    return pool_.emplace(
        queue_, clock_, workers,
        [this](const WorkerPool::QueuedKey&, const std::stop_token& stop) { Block(stop); });
  }
  void AddKeys(int count) {
    for (int i = 0; i < count; ++i) queue_.Add({"ns", std::to_string(next_key_++)});
  }
  /// Lets the keys that are being processed finish, but not the next ones.
  void FinishCurrent() {
    const std::lock_guard guard{mutex_};
    ++finished_;
    changed_.notify_all();
  }
  void FinishAll() {
    const std::lock_guard guard{mutex_};
    finish_all_ = true;
    changed_.notify_all();
  }
  void AwaitRunning(int count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return running_ == count; });
  }
  void AwaitProcessed(int count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return processed_ == count; });
  }
  std::string LogText() {
    const std::lock_guard guard{log_mutex_};
    return text_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;
  int most_running_ = 0;
  int finished_ = 0;  // the number of FinishCurrent calls
  bool finish_all_ = false;
  int processed_ = 0;
  bool stopped_ = false;
  int next_key_ = 0;
  std::mutex log_mutex_;
  std::string text_;
  testing::FakeClock clock_;
  WorkerPool::Queue queue_{{.clock = clock_}};
  Logger log_{{.write = [this](std::string_view line) {
    const std::lock_guard guard{log_mutex_};
    text_ += line;
  }}};
  std::optional<WorkerPool> pool_;
};

TEST_F(WorkerPoolTest, MoreWorkersStartWhileThePoolRuns) {
  AddKeys(5);
  NewPool(1).Start(log_);
  AwaitRunning(1);

  pool_->SetWorkers(3);
  AwaitRunning(3);

  EXPECT_EQ(pool_->workers(), 3);
  FinishAll();
  AwaitProcessed(5);
  EXPECT_EQ(most_running_, 3);
}

TEST_F(WorkerPoolTest, FewerWorkersContinueAfterTheCurrentKeys) {
  AddKeys(10);
  NewPool(3).Start(log_);
  AwaitRunning(3);

  pool_->SetWorkers(1);
  FinishCurrent();
  AwaitProcessed(3);
  {
    const std::lock_guard guard{mutex_};
    most_running_ = 0;
  }
  FinishAll();
  AwaitProcessed(10);

  EXPECT_LE(most_running_, 1);
  EXPECT_FALSE(stopped_) << "a worker that leaves does not stop its reconcile";
}

TEST_F(WorkerPoolTest, SetWorkersBeforeStartChoosesTheNumberOfThreads) {
  AddKeys(4);
  NewPool(1);
  pool_->SetWorkers(4);
  pool_->Start(log_);

  AwaitRunning(4);
  FinishAll();
  AwaitProcessed(4);
}

TEST_F(WorkerPoolTest, AKeyCanChangeTheNumberOfWorkersOfItsPool) {
  std::latch first{1};
  std::latch second{1};
  pool_.emplace(queue_, clock_, 2, [&](const WorkerPool::QueuedKey& next, const std::stop_token&) {
    const bool is_first = next.item.name == "0";
    pool_->SetWorkers(is_first ? 1 : 4);
    (is_first ? first : second).count_down();
  });
  AddKeys(1);
  pool_->Start(log_);
  first.wait();
  EXPECT_EQ(pool_->workers(), 1);

  AddKeys(1);
  second.wait();

  EXPECT_EQ(pool_->workers(), 4);
  pool_->RequestStop();
  EXPECT_TRUE(pool_->WaitUntilEnded(TimePoint::max()));
}

TEST_F(WorkerPoolTest, RequestStopStopsTheTokenOfEachKeyAndStartsNoOther) {
  AddKeys(5);
  NewPool(2).Start(log_);
  AwaitRunning(2);

  pool_->RequestStop();
  EXPECT_FALSE(pool_->WaitUntilEnded(clock_.Now())) << "two keys are being processed";
  pool_->SetWorkers(4);
  FinishAll();

  EXPECT_TRUE(pool_->WaitUntilEnded(TimePoint::max()));
  EXPECT_TRUE(stopped_);
  EXPECT_EQ(processed_, 2);
  EXPECT_EQ(queue_.Len(), 3);
}

TEST_F(WorkerPoolTest, APoolCanBeStartedAgain) {
  AddKeys(1);
  NewPool(2).Start(log_);
  AwaitRunning(1);
  pool_->RequestStop();
  FinishCurrent();
  ASSERT_TRUE(pool_->WaitUntilEnded(TimePoint::max()));
  stopped_ = false;

  AddKeys(2);
  pool_->Start(log_);
  AwaitRunning(2);
  FinishAll();
  AwaitProcessed(3);

  EXPECT_FALSE(stopped_) << "the new stop token is not stopped";
}

TEST_F(WorkerPoolTest, AnExceptionDoesNotEndAWorkerAndTheKeyIsDone) {
  std::atomic<int> calls = 0;
  std::latch third{1};
  pool_.emplace(queue_, clock_, 1, [&](const WorkerPool::QueuedKey&, const std::stop_token&) {
    const int call = ++calls;
    if (call == 1) throw std::bad_alloc();
    if (call == 2) throw 42;  // NOLINT: not a std::exception
    third.count_down();
  });
  AddKeys(3);
  pool_->Start(log_);
  for (int i = 0; i < 2; ++i) {
    clock_.AwaitSleeperFor(1s);  // the worker pauses
    clock_.Advance(1s);
  }
  third.wait();

  EXPECT_THAT(LogText(), HasSubstr("\"Worker error, continuing in 1 s\" err=\"std::bad_alloc\""));
  pool_->RequestStop();
  EXPECT_TRUE(pool_->WaitUntilEnded(TimePoint::max()));
  EXPECT_EQ(queue_.TakeSnapshot().processing_count, 0);
}

}  // namespace
}  // namespace kopp
