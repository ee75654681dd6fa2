#include "http/timer.hpp"

#include <chrono>
#include <condition_variable>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::apiserver {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class TimerTest : public ::testing::Test {
 protected:
  /// Blocks until `count` timers have expired. Returns all expired ids in order.
  std::vector<Timer::Id> WaitForExpired(std::size_t count) {
    auto expired = expired_.Lock();
    expired.Wait(changed_, [&] { return expired->size() >= count; });
    return *expired;
  }

  testing::FakeClock clock_;
  detail::Guarded<std::vector<Timer::Id>> expired_;
  std::condition_variable changed_;
  Timer timer_{clock_, [this](Timer::Id id) {
                 { expired_.Lock()->push_back(id); }
                 changed_.notify_all();
               }};
};

TEST_F(TimerTest, TimersExpireInOrderOfTime) {
  const TimePoint now = clock_.Now();
  timer_.Set(1, now + 3s);
  timer_.Set(2, now + 1s);
  timer_.Set(3, now + 2s);
  clock_.AwaitSleepers(1);

  clock_.Advance(3s);

  EXPECT_THAT(WaitForExpired(3), ElementsAre(2, 3, 1));
}

TEST_F(TimerTest, SetReplacesEarlierTimeOfSameId) {
  const TimePoint now = clock_.Now();
  timer_.Set(1, now + 1s);
  timer_.Set(2, now + 2s);

  timer_.Set(1, now + 3s);
  clock_.AwaitSleepers(1);
  clock_.Advance(3s);

  EXPECT_THAT(WaitForExpired(2), ElementsAre(2, 1));
}

TEST_F(TimerTest, CancelledTimerDoesNotExpire) {
  const TimePoint now = clock_.Now();
  timer_.Set(1, now + 1s);
  timer_.Set(2, now + 2s);

  timer_.Set(1, TimePoint::max());
  clock_.AwaitSleepers(1);
  clock_.Advance(2s);

  EXPECT_THAT(WaitForExpired(1), ElementsAre(2));
}

TEST_F(TimerTest, TimerSetToThePresentExpiresImmediately) {
  timer_.Set(1, clock_.Now());

  EXPECT_THAT(WaitForExpired(1), ElementsAre(1));
}

}  // namespace
}  // namespace kopp::apiserver
