#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include <gtest/gtest.h>
#include <time.h>

#include <kopp/leader_election/boot_time_clock.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

TimePoint SystemBootTime() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return TimePoint(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

TEST(BootTimeClockTest, NowIsTheTimeSinceTheBootIncludingSuspends) {
  const TimePoint before = SystemBootTime();
  const TimePoint now = BootTimeClock().Now();
  const TimePoint after = SystemBootTime();

  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
}

TEST(BootTimeClockTest, WaitUntilReturnsAtTheDeadline) {
  Clock& clock = BootTimeClock();
  const TimePoint deadline = clock.Now() + 2ms;

  EXPECT_TRUE(SleepUntil(clock, deadline, {}));

  EXPECT_GE(clock.Now(), deadline);
}

TEST(BootTimeClockTest, WaitUntilReturnsAtOnceIfTheDeadlineHasPassed) {
  Clock& clock = BootTimeClock();
  std::mutex mutex;
  std::condition_variable cv;
  std::unique_lock lock{mutex};

  clock.WaitUntil(lock, cv, clock.Now() - 1h);
}

TEST(BootTimeClockTest, AStopEndsAWaitWithoutDeadline) {
  std::stop_source stop;
  stop.request_stop();

  EXPECT_FALSE(SleepUntil(BootTimeClock(), TimePoint::max(), stop.get_token()));
}

TEST(BootTimeClockTest, CountingSuspendsReplacesTheRealClockOnly) {
  testing::FakeClock fake;

  EXPECT_EQ(&CountingSuspends(Clock::Real()), &BootTimeClock());
  EXPECT_EQ(&CountingSuspends(fake), &fake);
}

}  // namespace
}  // namespace kopp
