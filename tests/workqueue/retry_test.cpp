#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/retry.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

bool Always(const std::exception&) { return true; }

/// Fails in its first tries, each time with another text.
class Flaky {
 public:
  explicit Flaky(int failures) : failures_(failures) {}

  int operator()() {
    ++tries_;
    if (tries_ <= failures_) throw std::runtime_error("try " + std::to_string(tries_));
    return tries_;
  }
  [[nodiscard]] int tries() const { return tries_; }

 private:
  int failures_;
  int tries_ = 0;
};

/// The text of the exception that `call` throws.
std::string Thrown(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(RetryTest, WhatSucceedsIsTriedOnceAndItsResultReturned) {
  Flaky fn{0};

  EXPECT_EQ(OnError({.steps = 3}, Always, fn), 1);

  EXPECT_EQ(fn.tries(), 1);
}

TEST(RetryTest, WhatFailsIsTriedUntilItSucceeds) {
  Flaky fn{2};

  EXPECT_EQ(OnError({.steps = 3}, Always, fn), 3);
}

TEST(RetryTest, AfterTheLastStepTheLastErrorIsThrown) {
  Flaky fn{100};

  EXPECT_EQ(Thrown([&] { OnError({.steps = 3}, Always, fn); }), "try 3");

  EXPECT_EQ(fn.tries(), 3);
}

TEST(RetryTest, AnErrorThatIsNotRetriableIsThrownAtOnce) {
  Flaky fn{100};
  const auto first_only = [](const std::exception& error) {
    return error.what() == std::string("try 1");
  };

  EXPECT_EQ(Thrown([&] { OnError({.steps = 5}, first_only, fn); }), "try 2");
}

TEST(RetryTest, WhatIsThrownKeepsItsType) {
  const auto fn = [] { throw std::out_of_range("far away"); };

  EXPECT_THROW(OnError({.steps = 2}, Always, fn), std::out_of_range);
}

TEST(RetryTest, AnExceptionOfAnotherTypeIsNotTriedAgain) {
  Flaky fn{100};
  const auto any = [](const std::logic_error&) { return true; };

  EXPECT_EQ(Thrown([&] { OnError<std::logic_error>({.steps = 5}, any, fn); }), "try 1");
}

TEST(RetryTest, FewerThanOneStepIsOneTry) {
  Flaky fn{100};

  EXPECT_EQ(Thrown([&] { OnError({.steps = 0}, Always, fn); }), "try 1");
  EXPECT_EQ(Thrown([&] { OnError({.steps = -1}, Always, fn); }), "try 2");
}

TEST(RetryTest, WhatThePredicateThrowsEndsTheTries) {
  Flaky fn{100};
  const auto broken = [](const std::exception&) -> bool { throw std::runtime_error("broken"); };

  EXPECT_EQ(Thrown([&] { OnError({.steps = 5}, broken, fn); }), "broken");
  EXPECT_EQ(fn.tries(), 1);
}

TEST(RetryTest, AResultThatCannotBeCopiedIsReturned) {
  const auto made = OnError({.steps = 1}, Always, [] { return std::make_unique<int>(7); });

  EXPECT_EQ(*made, 7);
}

/// A function that fails, tried by a thread of its own, and the moments of its tries.
class RetryWaitTest : public ::testing::Test {
 protected:
  void Start(const RetryBackoff& backoff) {
    thread_ = std::jthread([this, backoff] {
      thrown_ = Thrown([&] {
        OnError(
            backoff, Always, [this] { Try(); },
            {.clock = clock_, .chance = [this] { return chance_; }}, stop_.get_token());
      });
    });
  }
  /// Lets a wait pass that is exactly `wait` long: an earlier try shows in Tries.
  void Pass(Duration wait) {
    clock_.AwaitSleepers(1);
    clock_.Advance(wait - 1ns);
    clock_.AwaitSleepers(1);
    clock_.Advance(1ns);
  }
  /// What is thrown in the end. The thread has made all its tries by then.
  std::string Join() {
    thread_.join();
    return thrown_;
  }
  /// The moments of the tries so far, while the thread waits or after its end.
  std::vector<Duration> Tries() {
    const std::lock_guard guard{mutex_};
    return tries_;
  }

  kopp::testing::FakeClock clock_;
  std::stop_source stop_;
  double chance_ = 0;

 private:
  void Try() {
    const std::lock_guard guard{mutex_};
    tries_.push_back(clock_.Now() - TimePoint{});
    throw std::runtime_error("try " + std::to_string(tries_.size()));
  }

  std::mutex mutex_;
  std::vector<Duration> tries_;
  std::string thrown_;
  std::jthread thread_;
};

TEST_F(RetryWaitTest, TheNextTryComesWhenTheWaitHasPassedAndNotBefore) {
  Start({.steps = 2, .duration = 10ms});

  clock_.AwaitSleepers(1);
  clock_.Advance(9ms);
  clock_.AwaitSleepers(1);
  EXPECT_THAT(Tries(), ElementsAre(0ms));
  clock_.Advance(1ms);

  EXPECT_EQ(Join(), "try 2");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 10ms));
}

TEST_F(RetryWaitTest, EachWaitIsTheOneBeforeTimesTheFactor) {
  Start({.steps = 4, .duration = 10ms, .factor = 3});
  Pass(10ms);
  Pass(30ms);
  Pass(90ms);

  EXPECT_EQ(Join(), "try 4");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 10ms, 40ms, 130ms));
}

TEST_F(RetryWaitTest, NoWaitIsLongerThanTheCapAndTheTriesGoOn) {
  Start({.steps = 5, .duration = 10ms, .factor = 10, .cap = 50ms});
  Pass(10ms);
  Pass(50ms);
  Pass(50ms);
  Pass(50ms);

  EXPECT_EQ(Join(), "try 5");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 10ms, 60ms, 110ms, 160ms));
}

TEST_F(RetryWaitTest, TheCapIsForTheFirstWaitToo) {
  Start({.steps = 2, .duration = 10s, .cap = 50ms});
  Pass(50ms);

  EXPECT_EQ(Join(), "try 2");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 50ms));
}

TEST_F(RetryWaitTest, TheJitterMakesAWaitLongerButNotTheNextOne) {
  chance_ = 1;
  Start({.steps = 3, .duration = 10ms, .factor = 2, .jitter = 0.5});
  Pass(15ms);
  Pass(30ms);

  EXPECT_EQ(Join(), "try 3");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 15ms, 45ms));
}

TEST_F(RetryWaitTest, AStopDuringAWaitThrowsTheLastError) {
  Start({.steps = 5, .duration = 10ms});
  Pass(10ms);
  clock_.AwaitSleepers(1);

  stop_.request_stop();

  EXPECT_EQ(Join(), "try 2");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 10ms));
}

TEST_F(RetryWaitTest, ToldToStopBeforehandItTriesOnce) {
  stop_.request_stop();
  Start({.steps = 5});

  EXPECT_EQ(Join(), "try 1");
}

TEST_F(RetryWaitTest, AFactorBeyondAllNumbersOverflowsNothing) {
  Start({.steps = 4, .duration = 1s, .factor = 1e300});
  Pass(1s);
  Pass(24h * 365 * 100);
  clock_.AwaitSleepers(1);
  stop_.request_stop();

  EXPECT_EQ(Join(), "try 2") << "the next wait has no end";
}

TEST_F(RetryWaitTest, TheDefaultRetryWaitsTenMillisecondsBetweenFiveTries) {
  Start(kDefaultRetry);
  for (int i = 0; i < 4; ++i) Pass(10ms);

  EXPECT_EQ(Join(), "try 5");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 10ms, 20ms, 30ms, 40ms));
}

TEST_F(RetryWaitTest, TheDefaultBackoffWaitsFiveTimesAsLongEachTimeBetweenFourTries) {
  Start(kDefaultBackoff);
  Pass(10ms);
  Pass(50ms);
  Pass(250ms);

  EXPECT_EQ(Join(), "try 4");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 10ms, 60ms, 310ms));
}

TEST_F(RetryWaitTest, TheDefaultRetryJittersByATenth) {
  chance_ = 1;
  Start(kDefaultRetry);
  for (int i = 0; i < 4; ++i) Pass(11ms);

  EXPECT_EQ(Join(), "try 5");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 11ms, 22ms, 33ms, 44ms));
}

TEST_F(RetryWaitTest, TheDefaultBackoffJittersByATenth) {
  chance_ = 1;
  Start(kDefaultBackoff);
  Pass(11ms);
  Pass(55ms);
  Pass(275ms);

  EXPECT_EQ(Join(), "try 4");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 11ms, 66ms, 341ms));
}

TEST(JitterTest, TheMachinesChanceIsFromZeroToOne) {
  for (int i = 0; i < 100; ++i) {
    const double chance = RealChance();
    EXPECT_GE(chance, 0);
    EXPECT_LE(chance, 1);
  }
}

TEST(JitterTest, AScaledDelayIsNeverBelowZeroNorBeyondTheLongest) {
  EXPECT_EQ(Scaled(10ms, 1.5), 15ms);
  EXPECT_EQ(Scaled(10ms, -1), 0ms);
  EXPECT_EQ(Scaled(-10ms, 2), 0ms);
  EXPECT_EQ(Scaled(Duration::max(), 1), Duration::max());
  EXPECT_EQ(Scaled(1h, 1e300), Duration::max());
  EXPECT_EQ(Scaled(0ms, std::numeric_limits<double>::infinity()), 0ms);
}

}  // namespace
}  // namespace kopp::workqueue
