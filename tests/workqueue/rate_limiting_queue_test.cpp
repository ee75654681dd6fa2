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
  void Pass(Duration step) {
    clock_.AwaitSleepers(1);
    clock_.Advance(step);
    clock_.AwaitSleepers(1);
  }

  kopp::testing::FakeClock clock_;
  RateLimitingQueue<std::string> queue_{{.clock = clock_}};
};

TEST_F(RateLimitingQueueTest, AnItemThatFailsWaitsTwiceAsLongEachTime) {
  queue_.AddRateLimited("a");
  Pass(5ms);
  EXPECT_EQ(queue_.Get(), "a");
  queue_.AddRateLimited("a");
  queue_.Done("a");

  Pass(9ms);
  EXPECT_EQ(queue_.Len(), 0);
  Pass(1ms);
  EXPECT_EQ(queue_.Len(), 1);
  EXPECT_EQ(queue_.NumRequeues("a"), 2);
}

TEST_F(RateLimitingQueueTest, EachItemWaitsForItsOwnFailuresOnly) {
  queue_.AddRateLimited("a");
  Pass(5ms);
  queue_.Done(*queue_.Get());
  queue_.AddRateLimited("a");
  queue_.AddRateLimited("b");

  Pass(5ms);
  EXPECT_EQ(queue_.Get(), "b");
  EXPECT_EQ(queue_.Len(), 0) << "a has failed twice";
  Pass(5ms);

  EXPECT_EQ(queue_.Get(), "a");
}

TEST_F(RateLimitingQueueTest, AnItemThatWasForgottenWaitsForTheShortestTimeAgain) {
  queue_.AddRateLimited("a");
  Pass(5ms);
  queue_.Done(*queue_.Get());

  queue_.Forget("a");
  queue_.AddRateLimited("a");
  Pass(5ms);

  EXPECT_EQ(queue_.Len(), 1);
}

TEST_F(RateLimitingQueueTest, ForgetClearsTheFailuresAndStillWantsADone) {
  queue_.AddRateLimited("a");
  Pass(5ms);
  const auto in_hand = queue_.Get();
  queue_.Forget("a");
  queue_.Add("a");

  EXPECT_EQ(queue_.NumRequeues("a"), 0);
  EXPECT_EQ(queue_.Len(), 0) << "a is still in hand";
  queue_.Done(*in_hand);
  EXPECT_EQ(queue_.Len(), 1);
}

TEST_F(RateLimitingQueueTest, ItTakesAnyLimiter) {
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
