#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::testing {
namespace {

using namespace std::chrono_literals;

TEST(FakeClockTest, AdvanceMovesBothClocks) {
  FakeClock clock{WallTime{1'700'000'000s}};
  const TimePoint start = clock.Now();

  clock.Advance(90s);

  EXPECT_EQ(clock.Now() - start, 90s);
  EXPECT_EQ(clock.WallNow(), WallTime{1'700'000'090s});
}

TEST(FakeClockTest, WaitUntilAPastDeadlineReturnsImmediately) {
  FakeClock clock;
  std::mutex mutex;
  std::condition_variable cv;
  std::unique_lock lock{mutex};

  clock.WaitUntil(lock, cv, clock.Now());

  EXPECT_TRUE(lock.owns_lock());
}

TEST(FakeClockTest, AwaitSleepersAfterAdvanceReturnsWhenTheSleeperHasReadTheNewTime) {
  FakeClock clock;
  std::mutex mutex;
  std::condition_variable cv;
  TimePoint last_read{};
  bool stop = false;
  std::jthread sleeper([&] {
    std::unique_lock lock{mutex};
    while (!stop) {
      last_read = clock.Now();
      clock.WaitUntil(lock, cv, TimePoint::max());
    }
  });

  for (int i = 0; i < 100; ++i) {
    clock.AwaitSleepers(1);
    clock.Advance(1s);
    clock.AwaitSleepers(1);
    const std::lock_guard guard{mutex};
    EXPECT_EQ(last_read, clock.Now());
  }
  {
    const std::lock_guard guard{mutex};
    stop = true;
  }
  clock.Advance(1s);
}

TEST(FakeClockTest, SleepersOnTheSameConditionVariableAreCountedSeparately) {
  FakeClock clock;
  std::mutex mutex;
  std::condition_variable cv;
  const auto sleep = [&] {
    std::unique_lock lock{mutex};
    while (clock.Now() < TimePoint{} + 1s) clock.WaitUntil(lock, cv, TimePoint{} + 1s);
  };
  std::jthread first(sleep);
  std::jthread second(sleep);

  clock.AwaitSleepers(2);
  clock.Advance(1s);
  first.join();
  second.join();

  EXPECT_EQ(clock.Now(), TimePoint{} + 1s);
}

TEST(FakeClockTest, AwaitSleeperForWaitsForTheSleeperWithThatDeadline) {
  FakeClock clock;
  std::mutex mutex;
  std::condition_variable cv;
  bool stop = false;
  const auto sleep = [&](Duration duration) {
    std::unique_lock lock{mutex};
    while (!stop && clock.Now() < TimePoint{} + duration)
      clock.WaitUntil(lock, cv, TimePoint{} + duration);
  };
  std::jthread other([&] { sleep(Duration::max()); });
  clock.AwaitSleepers(1);
  std::jthread expected([&] { sleep(5s); });

  clock.AwaitSleeperFor(5s);
  clock.Advance(5s);
  expected.join();

  EXPECT_EQ(clock.Now(), TimePoint{} + 5s);
  {
    const std::lock_guard guard{mutex};
    stop = true;
  }
  cv.notify_all();
}

TEST(ClockTest, AfterReturnsTheMaximumInsteadOfOverflowing) {
  EXPECT_EQ(SaturatingAdd(TimePoint{} + 1s, Duration::max()), TimePoint::max());
  EXPECT_EQ(SaturatingAdd(TimePoint{} + 5s, -2s), TimePoint{} + 3s);
  EXPECT_EQ(SaturatingAdd(TimePoint{} + 5s, 2s), TimePoint{} + 7s);
}

}  // namespace
}  // namespace kopp::testing
