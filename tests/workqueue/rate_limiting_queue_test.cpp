#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;

class RateLimitingQueueTest : public ::testing::Test {
 protected:
  void Advance(Duration step) {
    clock_.AwaitSleepers(1);
    clock_.Advance(step);
    clock_.AwaitSleepers(1);
  }

  kopp::testing::FakeClock clock_;
  RateLimitingQueue<std::string> queue_{{.clock = clock_}};
};

TEST_F(RateLimitingQueueTest, EachFailureDoublesTheDelayOfAnItem) {
  queue_.AddRateLimited("a");
  Advance(5ms);
  EXPECT_EQ(queue_.Get(), "a");
  queue_.AddRateLimited("a");
  queue_.Done("a");

  Advance(9ms);
  EXPECT_EQ(queue_.Len(), 0);
  Advance(1ms);
  EXPECT_EQ(queue_.Len(), 1);
  EXPECT_EQ(queue_.NumRequeues("a"), 2);
}

TEST_F(RateLimitingQueueTest, TheDelayOfAnItemDependsOnItsOwnFailures) {
  queue_.AddRateLimited("a");
  Advance(5ms);
  queue_.Done(*queue_.Get());
  queue_.AddRateLimited("a");
  queue_.AddRateLimited("b");

  Advance(5ms);
  EXPECT_EQ(queue_.Get(), "b");
  EXPECT_EQ(queue_.Len(), 0) << "a has failed twice, so it waits longer";
  Advance(5ms);

  EXPECT_EQ(queue_.Get(), "a");
}

TEST_F(RateLimitingQueueTest, TheDelayOfAnItemIsAtLeastTheMinimum) {
  queue_.AddRateLimited("a", {.min_delay = 30ms});
  queue_.AddRateLimited("b", {.min_delay = 1ms});

  Advance(5ms);
  EXPECT_EQ(queue_.Get(), "b") << "the limiter's delay is longer";
  Advance(24ms);
  EXPECT_EQ(queue_.Len(), 0);
  Advance(1ms);
  EXPECT_EQ(queue_.Get(), "a");
}

TEST_F(RateLimitingQueueTest, ForgetResetsTheDelayOfAnItem) {
  queue_.AddRateLimited("a");
  Advance(5ms);
  queue_.Done(*queue_.Get());

  queue_.Forget("a");
  queue_.AddRateLimited("a");
  Advance(5ms);

  EXPECT_EQ(queue_.Len(), 1);
}

TEST_F(RateLimitingQueueTest, ForgetResetsTheFailuresButDoesNotReplaceDone) {
  queue_.AddRateLimited("a");
  Advance(5ms);
  const auto processing = queue_.Get();
  queue_.Forget("a");
  queue_.Add("a");

  EXPECT_EQ(queue_.NumRequeues("a"), 0);
  EXPECT_EQ(queue_.Len(), 0) << "a is ready although it is being processed";
  queue_.Done(*processing);
  EXPECT_EQ(queue_.Len(), 1);
}

TEST_F(RateLimitingQueueTest, AcceptsACustomLimiter) {
  RateLimitingQueue<std::string> queue{
      {.name = "slow", .clock = clock_},
      std::make_unique<ItemFastSlowRateLimiter<std::string>>(1s, 2s, 1)};
  queue.AddRateLimited("a");
  clock_.AwaitSleepers(2);  // this queue's thread and the fixture's
  clock_.Advance(1s);

  EXPECT_EQ(queue.Get(), "a");
  EXPECT_EQ(queue.name(), "slow");
}

}  // namespace
}  // namespace kopp::workqueue
