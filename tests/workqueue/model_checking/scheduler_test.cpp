// Tests that the scheduler omits no schedule, and detects the bugs of a program.
#include "scheduler.hpp"

#include <condition_variable>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::model_checking {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Locks `mutex` `times` times, and appends `name` to `text` each time.
void AppendLocked(std::mutex& mutex, std::string& text, char name, int times) {
  for (int i = 0; i < times; ++i) {
    const std::lock_guard guard{mutex};
    text += name;
  }
}

TEST(SchedulerTest, EachOrderOfTwoThreadsThatLockThreeTimesRunsOnce) {
  std::set<std::string> texts;

  const ExplorationResult result = Explore(ExhaustiveSearchOptions{}, [&] {
    std::mutex mutex;
    std::string text;
    std::jthread first([&] { AppendLocked(mutex, text, 'a', 3); });
    std::jthread second([&] { AppendLocked(mutex, text, 'b', 3); });
    first.join();
    second.join();
    texts.insert(text);
  });

  EXPECT_THAT(result.failure, IsEmpty());
  EXPECT_EQ(texts.size(), 20) << "not all 6! / (3! 3!) orders were run";
  EXPECT_EQ(result.schedules, 20);
}

TEST(SchedulerTest, ThreadsWithSeparateLocksRunInOneOrder) {
  const ExplorationResult result = Explore(ExhaustiveSearchOptions{}, [] {
    std::mutex mutexes[2];
    std::string texts[2];
    std::jthread first([&] { AppendLocked(mutexes[0], texts[0], 'a', 3); });
    std::jthread second([&] { AppendLocked(mutexes[1], texts[1], 'b', 3); });
  });

  EXPECT_EQ(result.schedules, 1);
}

TEST(SchedulerTest, TheBoundedSearchFindsAllOrdersWithEnoughPreemptions) {
  std::set<std::string> texts;

  Explore(ExhaustiveSearchOptions{.max_preemptions = 6}, [&] {
    std::mutex mutex;
    std::string text;
    std::jthread first([&] { AppendLocked(mutex, text, 'a', 3); });
    std::jthread second([&] { AppendLocked(mutex, text, 'b', 3); });
    first.join();
    second.join();
    texts.insert(text);
  });

  EXPECT_EQ(texts.size(), 20);
}

TEST(SchedulerTest, TheSearchFailsIfItNeedsMoreThanTheMaximumNumberOfRuns) {
  const auto program = [] {
    std::mutex mutex;
    std::string text;
    std::jthread first([&] { AppendLocked(mutex, text, 'a', 1); });
    std::jthread second([&] { AppendLocked(mutex, text, 'b', 1); });
  };

  EXPECT_THAT(Explore(ExhaustiveSearchOptions{.max_runs = 1}, program).failure,
              HasSubstr("stopped after 1 runs"));
  EXPECT_THAT(Explore(ExhaustiveSearchOptions{.max_runs = 100}, program).failure, IsEmpty());
}

void TwoLocksInTwoOrders() {
  std::mutex a;
  std::mutex b;
  std::jthread first([&] {
    const std::lock_guard holds_a{a};
    const std::lock_guard holds_b{b};
  });
  std::jthread second([&] {
    const std::lock_guard holds_b{b};
    const std::lock_guard holds_a{a};
  });
}

TEST(SchedulerTest, DetectsADeadlock) {
  EXPECT_THAT(Explore(ExhaustiveSearchOptions{}, TwoLocksInTwoOrders).failure,
              HasSubstr("deadlock"));
  EXPECT_THAT(Explore(RandomSearchOptions{.seed = 1, .depth = 2}, TwoLocksInTwoOrders).failure,
              HasSubstr("deadlock"));
}

TEST(SchedulerTest, DetectsANotificationBeforeTheWait) {
  const ExplorationResult result = Explore(ExhaustiveSearchOptions{}, [] {
    std::mutex mutex;
    std::condition_variable cv;
    std::jthread waiter([&] {
      std::unique_lock lock{mutex};
      cv.wait(lock);  // a bug, because the notification can come before the wait
    });
    cv.notify_one();
  });

  EXPECT_THAT(result.failure, HasSubstr("deadlock"));
}

TEST(SchedulerTest, DetectsAWaitWithoutALoopBySpuriousWakeUps) {
  const auto program = [] {
    std::mutex mutex;
    std::condition_variable cv;
    bool ready = false;
    std::jthread waiter([&] {
      std::unique_lock lock{mutex};
      if (!ready) cv.wait(lock);
      if (!ready) ReportFailure("not ready");
    });
    const std::lock_guard guard{mutex};
    ready = true;
    cv.notify_one();
  };

  EXPECT_THAT(Explore(ExhaustiveSearchOptions{}, program).failure, IsEmpty());
  EXPECT_THAT(Explore(ExhaustiveSearchOptions{.max_spurious_wakeups = 1}, program).failure,
              HasSubstr("not ready"));
}

TEST(SchedulerTest, NotifyOneCanWakeAnySleeper) {
  std::set<char> woken;

  Explore(ExhaustiveSearchOptions{}, [&] {
    std::mutex mutex;
    std::condition_variable cv;
    std::string text;
    const auto wait = [&](char name) {
      std::unique_lock lock{mutex};
      cv.wait(lock);
      text += name;
    };
    std::jthread first(wait, 'a');
    std::jthread second(wait, 'b');
    AwaitBlockedThreads(2);
    cv.notify_one();
    cv.notify_one();
    first.join();
    second.join();
    woken.insert(text.front());
  });

  EXPECT_EQ(woken, (std::set{'a', 'b'}));
}

TEST(SchedulerTest, TheDestructorOfAStopCallbackWaitsForTheCallback) {
  const ExplorationResult result =
      Explore(ExhaustiveSearchOptions{.max_preemptions = 2, .at_unlock = true}, [] {
        std::mutex mutex;
        std::stop_source source;
        bool destroyed = false;
        std::jthread stopper([&] {
          SchedulingPoint(&source);
          source.request_stop();
        });
        {
          const std::stop_callback callback(source.get_token(), [&] {
            const std::lock_guard guard{mutex};
            if (destroyed) ReportFailure("the callback ran after its destructor");
          });
          SchedulingPoint(&source);
        }
        destroyed = true;
      });

  EXPECT_THAT(result.failure, IsEmpty());
  EXPECT_GT(result.schedules, 1);
}

}  // namespace
}  // namespace kopp::model_checking
