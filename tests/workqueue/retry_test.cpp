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

/// Throws in its first `failures` calls, with the number of the call in the text.
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

/// Returns the text of the exception that `call` throws, or "nothing".
std::string Thrown(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(RetryTest, ASuccessfulFunctionIsCalledOnceAndItsResultReturned) {
  Flaky fn{0};

  EXPECT_EQ(OnError({.steps = 3}, Always, fn), 1);

  EXPECT_EQ(fn.tries(), 1);
}

TEST(RetryTest, AFailingFunctionIsCalledUntilItSucceeds) {
  Flaky fn{2};

  EXPECT_EQ(OnError({.steps = 3}, Always, fn), 3);
}

TEST(RetryTest, AfterTheLastStepTheLastErrorIsThrown) {
  Flaky fn{100};

  EXPECT_EQ(Thrown([&] { OnError({.steps = 3}, Always, fn); }), "try 3");

  EXPECT_EQ(fn.tries(), 3);
}

TEST(RetryTest, AnErrorThatIsNotRetriableIsThrownImmediately) {
  Flaky fn{100};
  const auto first_only = [](const std::exception& error) {
    return error.what() == std::string("try 1");
  };

  EXPECT_EQ(Thrown([&] { OnError({.steps = 5}, first_only, fn); }), "try 2");
}

TEST(RetryTest, TheExceptionKeepsItsType) {
  const auto fn = [] { throw std::out_of_range("far away"); };

  EXPECT_THROW(OnError({.steps = 2}, Always, fn), std::out_of_range);
}

TEST(RetryTest, AnExceptionOfAnotherTypeIsNotRetried) {
  Flaky fn{100};
  const auto any = [](const std::logic_error&) { return true; };

  EXPECT_EQ(Thrown([&] { OnError<std::logic_error>({.steps = 5}, any, fn); }), "try 1");
}

TEST(RetryTest, StepsBelowOneCountAsOne) {
  Flaky fn{100};

  EXPECT_EQ(Thrown([&] { OnError({.steps = 0}, Always, fn); }), "try 1");
  EXPECT_EQ(Thrown([&] { OnError({.steps = -1}, Always, fn); }), "try 2");
}

TEST(RetryTest, AnExceptionOfThePredicateEndsTheRetries) {
  Flaky fn{100};
  const auto broken = [](const std::exception&) -> bool { throw std::runtime_error("broken"); };

  EXPECT_EQ(Thrown([&] { OnError({.steps = 5}, broken, fn); }), "broken");
  EXPECT_EQ(fn.tries(), 1);
}

TEST(RetryTest, AMoveOnlyResultIsReturned) {
  const auto made = OnError({.steps = 1}, Always, [] { return std::make_unique<int>(7); });

  EXPECT_EQ(*made, 7);
}

/// Runs OnError with a failing function on a thread, and records the times of its calls.
class RetryWaitTest : public ::testing::Test {
 protected:
  void Start(const RetryBackoff& backoff) {
    thread_ = std::jthread([this, backoff] {
      thrown_ = Thrown([&] {
        OnError(
            backoff, Always, [this] { Try(); },
            {.clock = clock_, .random = [this] { return random_; }}, stop_.get_token());
      });
    });
  }
  /// Advances the clock in two steps, so that Tries shows a try before `delay` has passed.
  void Advance(Duration delay) {
    clock_.AwaitSleepers(1);
    clock_.Advance(delay - 1ns);
    clock_.AwaitSleepers(1);
    clock_.Advance(1ns);
  }
  /// Blocks until the thread has ended. Returns the text of the exception that OnError threw.
  std::string Join() {
    thread_.join();
    return thrown_;
  }
  /// Returns the times of the calls so far. Requires: the thread is waiting, or has ended.
  std::vector<Duration> Tries() {
    const std::lock_guard guard{mutex_};
    return tries_;
  }

  kopp::testing::FakeClock clock_;
  std::stop_source stop_;
  double random_ = 0;

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

TEST_F(RetryWaitTest, TheNextTryStartsWhenTheDelayHasPassed) {
  Start({.steps = 2, .duration = 10ms});

  clock_.AwaitSleepers(1);
  clock_.Advance(9ms);
  clock_.AwaitSleepers(1);
  EXPECT_THAT(Tries(), ElementsAre(0ms));
  clock_.Advance(1ms);

  EXPECT_EQ(Join(), "try 2");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 10ms));
}

TEST_F(RetryWaitTest, EachDelayIsThePreviousOneTimesTheFactor) {
  Start({.steps = 4, .duration = 10ms, .factor = 3});
  Advance(10ms);
  Advance(30ms);
  Advance(90ms);

  EXPECT_EQ(Join(), "try 4");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 10ms, 40ms, 130ms));
}

TEST_F(RetryWaitTest, TheCapBoundsEachDelayAndTriesContinue) {
  Start({.steps = 5, .duration = 10ms, .factor = 10, .cap = 50ms});
  Advance(10ms);
  Advance(50ms);
  Advance(50ms);
  Advance(50ms);

  EXPECT_EQ(Join(), "try 5");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 10ms, 60ms, 110ms, 160ms));
}

TEST_F(RetryWaitTest, TheCapBoundsTheFirstDelay) {
  Start({.steps = 2, .duration = 10s, .cap = 50ms});
  Advance(50ms);

  EXPECT_EQ(Join(), "try 2");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 50ms));
}

TEST_F(RetryWaitTest, JitterLengthensADelayButNotTheNextOne) {
  random_ = 1;
  Start({.steps = 3, .duration = 10ms, .factor = 2, .jitter = 0.5});
  Advance(15ms);
  Advance(30ms);

  EXPECT_EQ(Join(), "try 3");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 15ms, 45ms));
}

TEST_F(RetryWaitTest, AStopRequestDuringADelayThrowsTheLastError) {
  Start({.steps = 5, .duration = 10ms});
  Advance(10ms);
  clock_.AwaitSleepers(1);

  stop_.request_stop();

  EXPECT_EQ(Join(), "try 2");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 10ms));
}

TEST_F(RetryWaitTest, AStopRequestedBeforehandAllowsOneTry) {
  stop_.request_stop();
  Start({.steps = 5});

  EXPECT_EQ(Join(), "try 1");
}

TEST_F(RetryWaitTest, AHugeFactorDoesNotOverflow) {
  Start({.steps = 4, .duration = 1s, .factor = 1e300});
  Advance(1s);
  Advance(24h * 365 * 100);
  clock_.AwaitSleepers(1);
  stop_.request_stop();

  EXPECT_EQ(Join(), "try 2") << "the next delay is the maximum";
}

TEST_F(RetryWaitTest, DefaultRetryHasFiveTriesTenMillisecondsApart) {
  Start(kDefaultRetry);
  for (int i = 0; i < 4; ++i) Advance(10ms);

  EXPECT_EQ(Join(), "try 5");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 10ms, 20ms, 30ms, 40ms));
}

TEST_F(RetryWaitTest, DefaultBackoffHasFourTriesWithFivefoldDelays) {
  Start(kDefaultBackoff);
  Advance(10ms);
  Advance(50ms);
  Advance(250ms);

  EXPECT_EQ(Join(), "try 4");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 10ms, 60ms, 310ms));
}

TEST_F(RetryWaitTest, DefaultRetryHasAJitterOfATenth) {
  random_ = 1;
  Start(kDefaultRetry);
  for (int i = 0; i < 4; ++i) Advance(11ms);

  EXPECT_EQ(Join(), "try 5");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 11ms, 22ms, 33ms, 44ms));
}

TEST_F(RetryWaitTest, DefaultBackoffHasAJitterOfATenth) {
  random_ = 1;
  Start(kDefaultBackoff);
  Advance(11ms);
  Advance(55ms);
  Advance(275ms);

  EXPECT_EQ(Join(), "try 4");
  EXPECT_THAT(Tries(), ElementsAre(0ms, 11ms, 66ms, 341ms));
}

TEST(RandomSourceTest, SystemRandomReturnsNumbersFromZeroToOne) {
  for (int i = 0; i < 100; ++i) {
    const double number = SystemRandom();
    EXPECT_GE(number, 0);
    EXPECT_LE(number, 1);
  }
}

TEST(DurationMathTest, ScaledClampsToTheRangeFromZeroToTheMaximum) {
  EXPECT_EQ(detail::Scaled(10ms, 1.5), 15ms);
  EXPECT_EQ(detail::Scaled(10ms, -1), 0ms);
  EXPECT_EQ(detail::Scaled(-10ms, 2), 0ms);
  EXPECT_EQ(detail::Scaled(Duration::max(), 1), Duration::max());
  EXPECT_EQ(detail::Scaled(1h, 1e300), Duration::max());
  EXPECT_EQ(detail::Scaled(0ms, std::numeric_limits<double>::infinity()), 0ms);
}

}  // namespace
}  // namespace kopp::workqueue
