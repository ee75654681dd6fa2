#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;

class PriorityOrderTest : public ::testing::Test {
 protected:
  /// Processes all ready items. Returns them in the order in which Get returned them.
  std::vector<std::string> ProcessAll() {
    std::vector<std::string> items;
    while (queue_.Len() > 0) {
      items.push_back(*queue_.Get());
      queue_.Done(items.back());
    }
    return items;
  }

  /// Advances the clock, and returns when the queue has read the new time.
  void Advance(Duration step) {
    clock_.AwaitSleepers(1);
    clock_.Advance(step);
    clock_.AwaitSleepers(1);
  }

  using Items = std::vector<std::string>;
  kopp::testing::FakeClock clock_;
  RateLimitingQueue<std::string> queue_{{.clock = clock_, .order = Order::Priority()}};
};

TEST_F(PriorityOrderTest, GetReturnsTheHighestPriorityFirstThenTheOldestItem) {
  queue_.Add("initial list", {.priority = -100});
  queue_.Add("first");
  queue_.Add("urgent", {.priority = 7});
  queue_.Add("second");

  EXPECT_EQ(ProcessAll(), (Items{"urgent", "first", "second", "initial list"}));
}

TEST_F(PriorityOrderTest, AnItemThatIsAddedForEverDoesNotStarveLowerPriorities) {
  constexpr int kItems = 50;
  queue_.Add("hot");
  for (int i = 0; i < kItems; ++i) queue_.Add("initial list " + std::to_string(i), {.priority = -100});
  int returned = 0;
  for (int gets = 0; gets < kItems * 10; ++gets) {
    const auto item = queue_.Get();
    returned += item != "hot" ? 1 : 0;
    if (item == "hot") queue_.Add("hot");
    queue_.Done(*item);
  }

  EXPECT_EQ(returned, kItems);
}

TEST_F(PriorityOrderTest, LowerPrioritiesHaveOneOfTenItemsAndTakeTurns) {
  for (int i = 0; i < 40; ++i) queue_.Add("high " + std::to_string(i));
  for (int i = 0; i < 3; ++i) {
    queue_.Add("middle", {.priority = -1});
    queue_.Add("low 1", {.priority = -100});
    queue_.Add("low 2", {.priority = -100});
  }
  const Items items = ProcessAll();

  EXPECT_EQ(items[9], "middle");
  EXPECT_EQ(items[19], "low 1");
  EXPECT_EQ(items[29], "low 2");
  EXPECT_EQ(items[8], "high 8");
  EXPECT_EQ(items[30], "high 27");
}

TEST_F(PriorityOrderTest, EachLowerPriorityHasATurnIfAllArePermanentlyReady) {
  std::map<std::string, int> counts;
  for (int priority : {3, 2, 1}) queue_.Add(std::to_string(priority), {.priority = priority});
  for (int gets = 0; gets < 200; ++gets) {
    const auto item = queue_.Get();
    ++counts[*item];
    queue_.Add(*item, {.priority = std::stoi(*item)});
    queue_.Done(*item);
  }

  EXPECT_THAT(counts, ::testing::ElementsAre(::testing::Pair("1", ::testing::Ge(10)),
                                             ::testing::Pair("2", ::testing::Ge(10)),
                                             ::testing::Pair("3", ::testing::Ge(100))));
}

TEST_F(PriorityOrderTest, AddingAReadyItemWithALowerOrEqualPriorityKeepsItsPriorityAndPlace) {
  queue_.Add("a", {.priority = 1});
  queue_.Add("b", {.priority = 1});
  queue_.Add("a", {.priority = -100});
  queue_.Add("a", {.priority = 1});

  EXPECT_EQ(ProcessAll(), (Items{"a", "b"}));
}

TEST_F(PriorityOrderTest, RaisingThePriorityMovesAnItemToTheEndOfThatPriority) {
  queue_.Add("raised", {.priority = -100});
  queue_.Add("low", {.priority = -100});
  queue_.Add("high");
  queue_.Add("raised");

  EXPECT_EQ(ProcessAll(), (Items{"high", "raised", "low"}));
}

TEST_F(PriorityOrderTest, AnItemAddedWhileProcessingIsRequeuedWithTheHighestPriorityOfThoseAdds) {
  queue_.Add("a", {.priority = 9});
  queue_.Add("b", {.priority = 5});
  const auto processing = queue_.Get();
  queue_.Add("a", {.priority = 3});
  queue_.Add("a", {.priority = 4});
  queue_.Add("a", {.priority = 2});
  queue_.Done(*processing);

  EXPECT_EQ(queue_.Get(), "b") << "a kept the priority 9 of its first Get";
  const auto again = queue_.GetWithPriority();

  EXPECT_EQ(again->item, "a");
  EXPECT_EQ(again->priority, 4);
}

TEST_F(PriorityOrderTest, AnItemInProcessingDoesNotBlockLowerPriorities) {
  queue_.Add("a", {.priority = 9});
  const auto processing = queue_.Get();
  queue_.Add("a", {.priority = 9});
  queue_.Add("b");

  EXPECT_EQ(queue_.Len(), 1);
  EXPECT_EQ(queue_.Get(), "b");
  queue_.Done(*processing);
  EXPECT_EQ(queue_.Get(), "a");
}

TEST_F(PriorityOrderTest, ARequeueKeepsThePriorityOfTheItem) {
  queue_.Add("later", {.priority = -100});
  queue_.Add("failed", {.priority = -50});
  for (const std::string expected : {"failed", "later"}) {
    const auto item = queue_.Get();
    EXPECT_EQ(item, expected);
    expected == "failed" ? queue_.AddRateLimited(*item) : queue_.AddAfter(*item, 1s);
    queue_.Done(*item);
  }
  Advance(1s);
  queue_.Add("live");

  EXPECT_EQ(queue_.GetWithPriority()->priority, 0);
  EXPECT_EQ(queue_.GetWithPriority()->priority, -50);
  EXPECT_EQ(queue_.GetWithPriority()->priority, -100);
}

TEST_F(PriorityOrderTest, ARequeueWithAPriorityUsesThatPriority) {
  queue_.Add("a", {.priority = -100});
  const auto item = queue_.Get();
  queue_.AddAfter(*item, 1s, {.priority = 8});
  queue_.Done(*item);
  Advance(1s);

  EXPECT_EQ(queue_.GetWithPriority()->priority, 8);
}

TEST_F(PriorityOrderTest, ARequeueWithoutADelayKeepsThePriorityOfTheItem) {
  for (const auto& options : {RequeueOptions<>{}, RequeueOptions<>{.after = -1s}}) {
    queue_.Add("a", {.priority = -100});
    const auto item = queue_.Get();
    queue_.AddWithOptions(*item, options);
    queue_.Done(*item);

    EXPECT_EQ(queue_.GetWithPriority()->priority, -100);
    queue_.Done(*item);
  }
}

TEST_F(PriorityOrderTest, ADelayedItemIsQueuedBehindReadyItemsOfItsPriority) {
  queue_.AddAfter("waited", 2s, {.priority = 0});
  Advance(1s);
  queue_.Add("ready before");
  Advance(1s);
  queue_.Add("ready after");

  EXPECT_EQ(ProcessAll(), (Items{"ready before", "waited", "ready after"}));
}

TEST_F(PriorityOrderTest, AddingAWaitingItemMakesItReadyAndKeepsItsDelay) {
  queue_.AddAfter("a", 5s, {.priority = 3});
  queue_.Add("a");
  EXPECT_EQ(ProcessAll(), (Items{"a"}));

  Advance(5s);

  EXPECT_EQ(queue_.GetWithPriority()->priority, 3);
}

TEST_F(PriorityOrderTest, TwoDelaysOfAnItemKeepTheEarlierTimeAndTheHigherPriority) {
  queue_.AddAfter("a", 1s, {.priority = -5});
  queue_.AddAfter("a", 9s, {.priority = 4});
  Advance(1s);

  EXPECT_EQ(queue_.GetWithPriority()->priority, 4);
}

TEST_F(PriorityOrderTest, AddWithOptionsUsesTheShorterOfDelayAndRateLimit) {
  queue_.AddWithOptions("limiter", {.after = 1h, .rate_limited = true, .priority = 1});
  queue_.AddWithOptions("delay", {.after = 1ms, .rate_limited = true});
  queue_.AddWithOptions("delay alone", {.after = 2ms});
  queue_.AddWithOptions("at once", {.priority = -1});
  EXPECT_EQ(ProcessAll(), (Items{"at once"}));

  Advance(1ms);
  EXPECT_EQ(ProcessAll(), (Items{"delay"}));
  Advance(1ms);
  EXPECT_EQ(ProcessAll(), (Items{"delay alone"}));
  Advance(3ms);
  EXPECT_EQ(ProcessAll(), (Items{"limiter"}));
  EXPECT_EQ(queue_.NumRequeues("delay"), 1) << "the failure was not counted";
}

TEST_F(PriorityOrderTest, AfterShutDownQueuedItemsKeepTheirOrder) {
  queue_.Add("low", {.priority = -1});
  queue_.Add("high", {.priority = 1});
  queue_.ShutDown();
  queue_.Add("late", {.priority = 2});

  EXPECT_EQ(ProcessAll(), (Items{"high", "low"}));
  EXPECT_EQ(queue_.Get(), std::nullopt);
}

TEST_F(PriorityOrderTest, TheMinimumAndMaximumPrioritiesAreValid) {
  queue_.Add("least", {.priority = std::numeric_limits<int>::min()});
  queue_.Add("most", {.priority = std::numeric_limits<int>::max()});
  queue_.Add("none");

  EXPECT_EQ(ProcessAll(), (Items{"most", "none", "least"}));
}

TEST(FifoOrderTest, PrioritiesAreIgnored) {
  Queue<std::string> queue;
  queue.Add("first", {.priority = -100});
  queue.Add("second", {.priority = 100});

  EXPECT_EQ(queue.Get(), "first");
  EXPECT_EQ(queue.GetWithPriority()->priority, 0);
}

}  // namespace
}  // namespace kopp::workqueue
