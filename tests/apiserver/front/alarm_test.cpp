#include "alarm.hpp"

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

class AlarmTest : public ::testing::Test {
 protected:
  /// The first so many that it rang for.
  std::vector<Alarm::Who> Rung(std::size_t count) {
    auto rung = rung_.Lock();
    rung.Wait(changed_, [&] { return rung->size() >= count; });
    return *rung;
  }

  testing::FakeClock clock_;
  Guarded<std::vector<Alarm::Who>> rung_;
  std::condition_variable changed_;
  Alarm alarm_{clock_, [this](Alarm::Who who) {
                 { rung_.Lock()->push_back(who); }
                 changed_.notify_all();
               }};
};

TEST_F(AlarmTest, ItRingsInTheOrderOfTime) {
  const TimePoint now = clock_.Now();
  alarm_.Set(1, now + 3s);
  alarm_.Set(2, now + 1s);
  alarm_.Set(3, now + 2s);
  clock_.AwaitSleepers(1);

  clock_.Advance(3s);

  EXPECT_THAT(Rung(3), ElementsAre(2, 3, 1));
}

TEST_F(AlarmTest, AnotherMomentReplacesTheFirst) {
  const TimePoint now = clock_.Now();
  alarm_.Set(1, now + 1s);
  alarm_.Set(2, now + 2s);

  alarm_.Set(1, now + 3s);
  clock_.AwaitSleepers(1);
  clock_.Advance(3s);

  EXPECT_THAT(Rung(2), ElementsAre(2, 1));
}

TEST_F(AlarmTest, ItDoesNotRingForWhomItWasUnset) {
  const TimePoint now = clock_.Now();
  alarm_.Set(1, now + 1s);
  alarm_.Set(2, now + 2s);

  alarm_.Set(1, TimePoint::max());
  clock_.AwaitSleepers(1);
  clock_.Advance(2s);

  EXPECT_THAT(Rung(1), ElementsAre(2));
}

TEST_F(AlarmTest, WhatIsPastRingsAtOnce) {
  alarm_.Set(1, clock_.Now());

  EXPECT_THAT(Rung(1), ElementsAre(1));
}

}  // namespace
}  // namespace kopp::apiserver
