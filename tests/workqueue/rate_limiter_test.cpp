#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;
using kopp::testing::FakeClock;

TEST(ItemExponentialFailureRateLimiterTest, EachFailureDoublesTheDelayUpToTheMaximum) {
  FakeClock clock;
  ItemExponentialFailureRateLimiter<std::string> limiter{1ms, 7ms, clock};

  EXPECT_EQ(limiter.When("a"), 1ms);
  EXPECT_EQ(limiter.When("a"), 2ms);
  EXPECT_EQ(limiter.When("a"), 4ms);
  EXPECT_EQ(limiter.When("a"), 7ms);
  EXPECT_EQ(limiter.When("a"), 7ms);
  EXPECT_EQ(limiter.NumRequeues("a"), 5);
}

TEST(ItemExponentialFailureRateLimiterTest, FailuresAreCountedPerItem) {
  FakeClock clock;
  ItemExponentialFailureRateLimiter<std::string> limiter{1ms, 1s, clock};
  limiter.When("a");
  limiter.When("a");

  EXPECT_EQ(limiter.When("b"), 1ms);
  EXPECT_EQ(limiter.NumRequeues("a"), 2);
  EXPECT_EQ(limiter.NumRequeues("c"), 0);
}

TEST(ItemExponentialFailureRateLimiterTest, ForgetResetsTheDelay) {
  FakeClock clock;
  ItemExponentialFailureRateLimiter<std::string> limiter{1ms, 1s, clock};
  limiter.When("a");
  limiter.When("a");

  limiter.Forget("a");

  EXPECT_EQ(limiter.NumRequeues("a"), 0);
  EXPECT_EQ(limiter.When("a"), 1ms);
}

TEST(ItemExponentialFailureRateLimiterTest, ManyFailuresDoNotOverflow) {
  FakeClock clock;
  ItemExponentialFailureRateLimiter<std::string> limiter{1ms, Duration::max(), clock};
  Duration last{};

  for (int i = 0; i < 2000; ++i) {
    const Duration delay = limiter.When("a");
    EXPECT_GE(delay, last);
    last = delay;
  }

  EXPECT_EQ(last, Duration::max());
}

TEST(ItemExponentialFailureRateLimiterTest, AnItemExpiresAfterTwiceTheMaximumDelay) {
  FakeClock clock;
  ItemExponentialFailureRateLimiter<std::string> limiter{1ms, 10s, clock};
  limiter.When("a");
  limiter.When("a");

  clock.Advance(20s);
  EXPECT_EQ(limiter.NumRequeues("a"), 2);
  clock.Advance(1ns);

  EXPECT_EQ(limiter.NumRequeues("a"), 0);
  EXPECT_EQ(limiter.When("a"), 1ms);
}

TEST(ItemFastSlowRateLimiterTest, TheFirstDelaysAreFastAndLaterOnesSlow) {
  FakeClock clock;
  ItemFastSlowRateLimiter<std::string> limiter{5ms, 10s, 3, clock};

  EXPECT_EQ(limiter.When("a"), 5ms);
  EXPECT_EQ(limiter.When("a"), 5ms);
  EXPECT_EQ(limiter.When("a"), 5ms);
  EXPECT_EQ(limiter.When("a"), 10s);
  EXPECT_EQ(limiter.When("b"), 5ms);
  limiter.Forget("a");
  EXPECT_EQ(limiter.When("a"), 5ms);
}

TEST(ItemFastSlowRateLimiterTest, NumRequeuesCountsFastAndSlowFailuresPerItem) {
  FakeClock clock;
  ItemFastSlowRateLimiter<std::string> limiter{5ms, 10s, 3, clock};
  for (int i = 0; i < 5; ++i) limiter.When("a");
  limiter.When("b");

  EXPECT_EQ(limiter.NumRequeues("a"), 5);
  EXPECT_EQ(limiter.NumRequeues("b"), 1);
  limiter.Forget("a");
  EXPECT_EQ(limiter.NumRequeues("a"), 0);
}

TEST(BucketRateLimiterTest, TheBurstHasNoDelayAndLaterItemsWaitForTokens) {
  FakeClock clock;
  BucketRateLimiter<std::string> limiter{10, 2, clock};

  EXPECT_EQ(limiter.When("a"), 0s);
  EXPECT_EQ(limiter.When("b"), 0s);
  EXPECT_EQ(limiter.When("c"), 100ms);
  EXPECT_EQ(limiter.When("c"), 200ms);
  EXPECT_EQ(limiter.NumRequeues("c"), 0);
}

TEST(BucketRateLimiterTest, TokensAreRefilledUpToTheBurst) {
  FakeClock clock;
  BucketRateLimiter<std::string> limiter{10, 2, clock};
  for (int i = 0; i < 4; ++i) limiter.When("a");

  clock.Advance(1h);

  EXPECT_EQ(limiter.When("a"), 0s);
  EXPECT_EQ(limiter.When("a"), 0s);
  EXPECT_EQ(limiter.When("a"), 100ms);
}

TEST(BucketRateLimiterTest, ARateOrBurstOfZeroIsRejected) {
  EXPECT_THROW((BucketRateLimiter<int>{0, 1}), std::invalid_argument);
  EXPECT_THROW((BucketRateLimiter<int>{1, 0}), std::invalid_argument);
}

TEST(RateLimiterTest, ANegativeDelayIsRejected) {
  using Exponential = ItemExponentialFailureRateLimiter<std::string>;
  using FastSlow = ItemFastSlowRateLimiter<std::string>;
  EXPECT_THROW(Exponential(-1ms, 1s), std::invalid_argument);
  EXPECT_THROW(Exponential(1ms, -1s), std::invalid_argument);
  EXPECT_THROW(FastSlow(-1ms, 1s, 3), std::invalid_argument);
  EXPECT_THROW(FastSlow(1ms, -1s, 3), std::invalid_argument);
  EXPECT_THROW(WithMaxWaitRateLimiter<std::string>(std::make_unique<Exponential>(1ms, 1s), -1s),
               std::invalid_argument);
  EXPECT_NO_THROW(Exponential(0ms, 0s));
}

TEST(MaxOfRateLimiterTest, TheLongestDelayAppliesAndEachLimiterCountsEachFailure) {
  FakeClock clock;
  MaxOfRateLimiter<std::string> limiter{
      std::make_unique<ItemFastSlowRateLimiter<std::string>>(5ms, 3s, 3, clock),
      std::make_unique<ItemExponentialFailureRateLimiter<std::string>>(1ms, 1s, clock)};

  EXPECT_EQ(limiter.When("a"), 5ms);
  EXPECT_EQ(limiter.When("a"), 5ms);
  EXPECT_EQ(limiter.When("a"), 5ms);
  EXPECT_EQ(limiter.When("a"), 3s);
  EXPECT_EQ(limiter.NumRequeues("a"), 4);
  limiter.Forget("a");
  EXPECT_EQ(limiter.NumRequeues("a"), 0);
}

TEST(WithMaxWaitRateLimiterTest, TheDelayIsCappedAndFailuresAreCounted) {
  WithMaxWaitRateLimiter<std::string> limiter{
      std::make_unique<ItemExponentialFailureRateLimiter<std::string>>(5ms, 1000s), 8ms};

  EXPECT_EQ(limiter.When("a"), 5ms);
  EXPECT_EQ(limiter.When("a"), 8ms);
  EXPECT_EQ(limiter.When("a"), 8ms);
  EXPECT_EQ(limiter.NumRequeues("a"), 3);
}

TEST(DefaultControllerRateLimiterTest, ReturnsTheLongerOfItemBackOffAndTokenBucketDelay) {
  FakeClock clock;
  const auto limiter = DefaultControllerRateLimiter<int>(clock);

  EXPECT_EQ(limiter->When(0), 5ms);
  EXPECT_EQ(limiter->When(0), 10ms);
  for (int i = 2; i < 100; ++i) limiter->When(i);  // the rest of the burst

  EXPECT_EQ(limiter->When(100), 100ms);
  EXPECT_EQ(limiter->When(101), 200ms);
}

TEST(DefaultItemBasedRateLimiterTest, DelaysGrowFromOneMillisecondToAThousandSeconds) {
  FakeClock clock;
  const auto limiter = DefaultItemBasedRateLimiter<int>(clock);

  EXPECT_EQ(limiter->When(0), 1ms);
  for (int i = 0; i < 30; ++i) limiter->When(0);
  EXPECT_EQ(limiter->When(0), 1000s);
}

}  // namespace
}  // namespace kopp::workqueue
