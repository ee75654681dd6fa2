#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;

class PriorityOrderTest : public ::testing::Test {
 protected:
  /// All that is ready, as it is handed out.
  std::vector<std::string> TakeAll() {
    std::vector<std::string> items;
    while (queue_.Len() > 0) {
      items.push_back(*queue_.Get());
      queue_.Done(items.back());
    }
    return items;
  }

  /// Lets time pass, and returns once the queue has looked at the new time.
  void Pass(Duration step) {
    clock_.AwaitSleepers(1);
    clock_.Advance(step);
    clock_.AwaitSleepers(1);
  }

  using Items = std::vector<std::string>;
  kopp::testing::FakeClock clock_;
  RateLimitingQueue<std::string> queue_{{.clock = clock_, .order = Order::Priority()}};
};

TEST_F(PriorityOrderTest, TheHighestPriorityComesFirstAndAmongEqualsTheFirstAdded) {
  queue_.Add("initial list", -100);
  queue_.Add("first");
  queue_.Add("urgent", 7);
  queue_.Add("second");

  EXPECT_EQ(TakeAll(), (Items{"urgent", "first", "second", "initial list"}));
}

TEST_F(PriorityOrderTest, ALowerPriorityChangesNothingForAnItemThatIsReady) {
  queue_.Add("a", 1);
  queue_.Add("b", 1);
  queue_.Add("a", -100);
  queue_.Add("a", 1);

  EXPECT_EQ(TakeAll(), (Items{"a", "b"}));
}

TEST_F(PriorityOrderTest, AnItemThatIsRaisedGoesToTheEndOfItsNewPriority) {
  queue_.Add("raised", -100);
  queue_.Add("low", -100);
  queue_.Add("high");
  queue_.Add("raised");

  EXPECT_EQ(TakeAll(), (Items{"high", "raised", "low"}));
}

TEST_F(PriorityOrderTest, AnItemAddedWhileInHandComesBackWithTheHighestPriorityOfThoseAdds) {
  queue_.Add("a", 9);
  queue_.Add("b", 5);
  const auto in_hand = queue_.Get();
  queue_.Add("a", 3);
  queue_.Add("a", 4);
  queue_.Add("a", 2);
  queue_.Done(*in_hand);

  EXPECT_EQ(queue_.Get(), "b") << "the 9 went with the first run";
  const auto again = queue_.GetWithPriority();

  EXPECT_EQ(again->item, "a");
  EXPECT_EQ(again->priority, 4);
}

TEST_F(PriorityOrderTest, AnItemInHandHoldsUpNothingThatIsLessUrgent) {
  queue_.Add("a", 9);
  const auto in_hand = queue_.Get();
  queue_.Add("a", 9);
  queue_.Add("b");

  EXPECT_EQ(queue_.Len(), 1);
  EXPECT_EQ(queue_.Get(), "b");
  queue_.Done(*in_hand);
  EXPECT_EQ(queue_.Get(), "a");
}

TEST_F(PriorityOrderTest, ARequeueKeepsThePriorityThatTheItemWasHandedOutWith) {
  queue_.Add("later", -100);
  queue_.Add("failed", -50);
  for (const std::string expected : {"failed", "later"}) {
    const auto handed = queue_.Get();
    EXPECT_EQ(handed, expected);
    expected == "failed" ? queue_.AddRateLimited(*handed) : queue_.AddAfter(*handed, 1s);
    queue_.Done(*handed);
  }
  Pass(1s);
  queue_.Add("live");

  EXPECT_EQ(queue_.GetWithPriority()->priority, 0);
  EXPECT_EQ(queue_.GetWithPriority()->priority, -50);
  EXPECT_EQ(queue_.GetWithPriority()->priority, -100);
}

TEST_F(PriorityOrderTest, ARequeueWithAPriorityOfItsOwnTakesThat) {
  queue_.Add("a", -100);
  const auto handed = queue_.Get();
  queue_.AddAfter(*handed, 1s, 8);
  queue_.Done(*handed);
  Pass(1s);

  EXPECT_EQ(queue_.GetWithPriority()->priority, 8);
}

TEST_F(PriorityOrderTest, ARequeueWithoutADelayKeepsThePriorityToo) {
  for (const AddOptions& options : {AddOptions{}, AddOptions{.after = -1s}}) {
    queue_.Add("a", -100);
    const auto handed = queue_.Get();
    queue_.AddWithOptions(*handed, options);
    queue_.Done(*handed);

    EXPECT_EQ(queue_.GetWithPriority()->priority, -100);
    queue_.Done(*handed);
  }
}

TEST_F(PriorityOrderTest, WhatWaitedComesBehindItsEqualsThatWereReadyBeforeIt) {
  queue_.AddAfter("waited", 2s, 0);
  Pass(1s);
  queue_.Add("ready before");
  Pass(1s);
  queue_.Add("ready after");

  EXPECT_EQ(TakeAll(), (Items{"ready before", "waited", "ready after"}));
}

TEST_F(PriorityOrderTest, AnAddMakesAWaitingItemReadyAndTheWakeUpStillComes) {
  queue_.AddAfter("a", 5s, 3);
  queue_.Add("a");
  EXPECT_EQ(TakeAll(), (Items{"a"}));

  Pass(5s);

  EXPECT_EQ(queue_.GetWithPriority()->priority, 3);
}

TEST_F(PriorityOrderTest, OfTwoDelaysTheEarlierMomentAndTheHigherPriorityStand) {
  queue_.AddAfter("a", 1s, -5);
  queue_.AddAfter("a", 9s, 4);
  Pass(1s);

  EXPECT_EQ(queue_.GetWithPriority()->priority, 4);
}

TEST_F(PriorityOrderTest, RateLimitedAndDelayedTheShorterWaitCounts) {
  queue_.AddWithOptions("limiter", {.after = 1h, .rate_limited = true, .priority = 1});
  queue_.AddWithOptions("delay", {.after = 1ms, .rate_limited = true});
  queue_.AddWithOptions("delay alone", {.after = 2ms});
  queue_.AddWithOptions("at once", {.priority = -1});
  EXPECT_EQ(TakeAll(), (Items{"at once"}));

  Pass(1ms);
  EXPECT_EQ(TakeAll(), (Items{"delay"}));
  Pass(1ms);
  EXPECT_EQ(TakeAll(), (Items{"delay alone"}));
  Pass(3ms);
  EXPECT_EQ(TakeAll(), (Items{"limiter"}));
  EXPECT_EQ(queue_.NumRequeues("delay"), 1) << "a shorter delay counts the failure too";
}

TEST_F(PriorityOrderTest, AfterShutDownWhatIsQueuedIsStillHandedOutInItsOrder) {
  queue_.Add("low", -1);
  queue_.Add("high", 1);
  queue_.ShutDown();
  queue_.Add("late", 2);

  EXPECT_EQ(TakeAll(), (Items{"high", "low"}));
  EXPECT_EQ(queue_.Get(), std::nullopt);
}

TEST_F(PriorityOrderTest, TheExtremePrioritiesArePrioritiesLikeAnyOther) {
  queue_.Add("least", std::numeric_limits<int>::min());
  queue_.Add("most", std::numeric_limits<int>::max());
  queue_.Add("none");

  EXPECT_EQ(TakeAll(), (Items{"most", "none", "least"}));
}

TEST(FirstComeOrderTest, PrioritiesMeanNothing) {
  Queue<std::string> queue;
  queue.Add("first", -100);
  queue.Add("second", 100);

  EXPECT_EQ(queue.Get(), "first");
  EXPECT_EQ(queue.GetWithPriority()->priority, 0);
}

}  // namespace
}  // namespace kopp::workqueue
