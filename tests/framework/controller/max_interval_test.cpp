#include "controller/max_interval.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

class MaxIntervalTest : public ::testing::Test {
 protected:
  /// Advances the clock and returns the names of all keys that were enqueued until then.
  std::vector<std::string> EnqueuedAfter(Duration step) {
    clock_.Advance(step);
    clock_.AwaitSleepers(1);  // the thread of timers_ has seen the time
    return *enqueued_.Lock();
  }

  const ObjectKey key_{"default", "a"};
  bool exists_ = true;
  detail::Guarded<std::vector<std::string>> enqueued_;
  testing::FakeClock clock_;
  TimerQueue timers_{clock_};
  MaxInterval max_interval_{
      100s,
      timers_,
      clock_,
      {.enqueue = [this](const ObjectKey& key) { enqueued_.Lock()->push_back(key.name); },
       .exists = [this](const ObjectKey& /*key*/) { return exists_; }}};
};

TEST_F(MaxIntervalTest, AnObjectIsEnqueuedOnceAfter90To100PercentOfTheInterval) {
  max_interval_.OnReconciled(key_);

  EXPECT_THAT(EnqueuedAfter(89s), IsEmpty());
  EXPECT_THAT(EnqueuedAfter(11s), ElementsAre("a"));
  EXPECT_THAT(EnqueuedAfter(1000s), ElementsAre("a"));
}

TEST_F(MaxIntervalTest, TheIntervalStartsAgainAtTheEndOfAReconcile) {
  max_interval_.OnReconciled(key_);
  EXPECT_THAT(EnqueuedAfter(80s), IsEmpty());
  max_interval_.OnStarted(key_);
  max_interval_.OnReconciled(key_);

  EXPECT_THAT(EnqueuedAfter(89s), IsEmpty());
  EXPECT_THAT(EnqueuedAfter(11s), ElementsAre("a"));
}

TEST_F(MaxIntervalTest, AnObjectIsNotEnqueuedDuringItsReconcile) {
  max_interval_.OnReconciled(key_);
  max_interval_.OnStarted(key_);

  EXPECT_THAT(EnqueuedAfter(1000s), IsEmpty());
}

TEST_F(MaxIntervalTest, AnObjectThatDoesNotExistIsNotEnqueued) {
  exists_ = false;
  max_interval_.OnReconciled(key_);

  EXPECT_THAT(EnqueuedAfter(1000s), IsEmpty());
}

}  // namespace
}  // namespace kopp
