#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/coalescing_queue.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;

class CoalesceTest : public ::testing::Test {
 protected:
  /// Advances the clock, and returns when both threads of the queue have read the new time.
  void Advance(Duration step) {
    clock_.AwaitSleepers(2);
    clock_.Advance(step);
    clock_.AwaitSleepers(2);
  }
  /// Gets an item and marks it as processed. Throws if none is ready.
  QueuedItem<std::string> Process() {
    if (queue_.Len() == 0) throw std::logic_error("no item is ready");
    auto item = queue_.GetWithPriority();
    queue_.Done(item->item);
    return *item;
  }

  kopp::testing::FakeClock clock_;
  CoalescingQueue<std::string> queue_{{.clock = clock_, .order = Order::Priority()},
                                      {.quiet = 100ms, .max_wait = 1s}};
};

TEST_F(CoalesceTest, AnItemIsAddedWhenItsAddsHaveBeenQuiet) {
  queue_.AddCoalesced("a");
  Advance(60ms);
  queue_.AddCoalesced("a");
  Advance(60ms);
  EXPECT_EQ(queue_.Len(), 0) << "the second add did not extend the wait";

  Advance(40ms);

  EXPECT_EQ(Process().item, "a");
  Advance(1h);
  EXPECT_EQ(queue_.Len(), 0);
}

TEST_F(CoalesceTest, AnItemThatIsNeverQuietIsAddedOncePerMaximumWait) {
  std::vector<Duration> runs;
  for (int i = 0; i < 80; ++i) {  // an add each 50 ms for 4 s
    queue_.AddCoalesced("a");
    Advance(50ms);
    if (queue_.Len() == 0) continue;
    Process();
    runs.push_back(clock_.Now() - TimePoint{});
  }

  EXPECT_EQ(runs, (std::vector<Duration>{1s, 2s, 3s, 4s}));
}

TEST_F(CoalesceTest, ItemsWaitIndependentlyOfEachOther) {
  queue_.AddCoalesced("a");
  Advance(50ms);
  queue_.AddCoalesced("b");
  Advance(50ms);
  EXPECT_EQ(Process().item, "a");
  EXPECT_EQ(queue_.Len(), 0);

  Advance(50ms);

  EXPECT_EQ(Process().item, "b");
}

TEST_F(CoalesceTest, ARetryIsNotDelayedByCoalescedAdds) {
  queue_.AddAfter("a", 120ms);
  queue_.AddCoalesced("a");
  Advance(90ms);
  queue_.AddCoalesced("a");

  Advance(30ms);

  EXPECT_EQ(Process().item, "a") << "the retry waited for the coalesced adds";
  Advance(70ms);
  EXPECT_EQ(Process().item, "a") << "the retry has removed the coalesced add";
}

TEST_F(CoalesceTest, ACoalescedAddDoesNotCancelARetry) {
  queue_.AddRateLimited("a", {.min_delay = 5s});
  queue_.AddCoalesced("a");
  Advance(100ms);
  EXPECT_EQ(Process().item, "a");
  EXPECT_EQ(queue_.Len(), 0);

  Advance(4900ms);

  EXPECT_EQ(Process().item, "a");
}

TEST_F(CoalesceTest, AddIsNotCoalesced) {
  queue_.Add("a");

  EXPECT_EQ(queue_.Len(), 1);
}

TEST_F(CoalesceTest, TheHighestPriorityOfTheAddsApplies) {
  queue_.AddCoalesced("a", {.priority = -100});
  queue_.AddCoalesced("a", {.priority = 7});
  queue_.AddCoalesced("a", {.priority = 3});

  Advance(100ms);

  EXPECT_EQ(Process().priority, 7);
}

TEST_F(CoalesceTest, ASnapshotShowsWhenCoalescedItemsBecomeReady) {
  queue_.AddAfter("retry", 50ms);
  queue_.AddCoalesced("burst");
  Advance(20ms);
  queue_.AddCoalesced("burst");

  const auto snapshot = queue_.TakeSnapshot();

  ASSERT_EQ(snapshot.waiting.size(), 2);
  EXPECT_EQ(snapshot.waiting_count, 2);
  EXPECT_EQ(snapshot.waiting[0].item, "retry");
  EXPECT_EQ(snapshot.waiting[1].item, "burst");
  EXPECT_EQ(snapshot.waiting[1].at, TimePoint{} + 120ms);
  EXPECT_EQ(queue_.TakeSnapshot(1).waiting.size(), 1);
}

TEST_F(CoalesceTest, ShutDownDropsCoalescedItems) {
  queue_.AddCoalesced("a");
  queue_.ShutDown();
  queue_.AddCoalesced("b");

  EXPECT_EQ(queue_.Get(), std::nullopt);
  EXPECT_EQ(queue_.TakeSnapshot().waiting_count, 0);
}

TEST(CoalesceOptionsTest, WithoutAQuietTimeAddCoalescedAddsImmediately) {
  CoalescingQueue<std::string> queue({}, {});

  queue.AddCoalesced("a");

  EXPECT_EQ(queue.Len(), 1);
}

TEST(CoalesceOptionsTest, TheDefaultMaximumWaitIsTenTimesTheQuietTime) {
  EXPECT_EQ(Coalesce{.quiet = 100ms}.LatestEnd(TimePoint{}), TimePoint{} + 1s);
  EXPECT_EQ((Coalesce{.quiet = 1s, .max_wait = 1ms}.LatestEnd(TimePoint{})), TimePoint{} + 1s);
  EXPECT_EQ(Coalesce{.quiet = Duration::max()}.LatestEnd(TimePoint{} + 1s), TimePoint::max());
}

}  // namespace
}  // namespace kopp::workqueue
