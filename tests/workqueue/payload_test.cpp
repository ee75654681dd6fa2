#include <chrono>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/coalescing_queue.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;

/// The texts of the adds of an item, in their order.
struct Texts {
  std::string joined{};

  void Merge(Texts&& later) noexcept { joined += "+" + later.joined; }
};

class PayloadTest : public ::testing::Test {
 protected:
  /// Returns the next item and its payload: "a: x+y".
  std::string Next() {
    const auto next = queue_.GetWithPriority();
    return next->item + ": " + next->payload.joined;
  }

  kopp::testing::FakeClock clock_;
  CoalescingQueue<std::string, Texts> queue_{{.clock = clock_, .track_times = true},
                                             {.quiet = 100ms}};
};

TEST_F(PayloadTest, ThePayloadsOfTheAddsOfAnItemAreMergedUntilGet) {
  queue_.Add("a", {.payload = {"1"}});
  queue_.Add("b", {.payload = {"other"}});
  queue_.Add("a", {.payload = {"2"}});
  queue_.Add("a", {.payload = {"3"}});

  EXPECT_EQ(Next(), "a: 1+2+3");
  EXPECT_EQ(Next(), "b: other");
}

TEST_F(PayloadTest, AnAddWithoutOptionsHasADefaultPayload) {
  queue_.Add("a");
  queue_.Add("a", {.payload = {"2"}});

  EXPECT_EQ(Next(), "a: +2");
}

TEST_F(PayloadTest, APayloadOfAnItemInProcessingBelongsToItsNextGet) {
  queue_.Add("a", {.payload = {"1"}});
  EXPECT_EQ(Next(), "a: 1");
  queue_.Add("a", {.payload = {"2"}});
  queue_.Add("a", {.payload = {"3"}});
  queue_.Done("a");

  EXPECT_EQ(Next(), "a: 2+3");
  queue_.Done("a");
  queue_.Add("a");
  EXPECT_EQ(Next(), "a: ") << "a payload was returned twice";
}

TEST_F(PayloadTest, DelayedAndCoalescedAddsKeepTheirPayloads) {
  queue_.AddAfter("a", 100ms, {.payload = {"later"}});
  queue_.AddAfter("a", 50ms, {.payload = {"sooner"}});
  queue_.AddCoalesced("b", {.payload = {"1"}});
  queue_.AddCoalesced("b", {.payload = {"2"}});
  queue_.AddRateLimited("c", {.min_delay = 50ms, .payload = {"retry"}});
  queue_.AddWithOptions("d", {.after = 50ms, .payload = {"requeue"}});
  queue_.AddWithOptions("e", {.payload = {"at once"}});
  EXPECT_EQ(Next(), "e: at once");
  for (int i = 0; i < 2; ++i) {
    clock_.AwaitSleepers(2);
    clock_.Advance(50ms);
  }

  EXPECT_EQ(Next(), "a: later+sooner");
  EXPECT_EQ(Next(), "c: retry");
  EXPECT_EQ(Next(), "d: requeue");
  EXPECT_EQ(Next(), "b: 1+2");
}

TEST_F(PayloadTest, ASnapshotContainsCopiesOfThePayloads) {
  queue_.Add("processing", {.payload = {"first"}});
  Next();
  queue_.Add("processing", {.payload = {"again"}});
  queue_.Add("ready", {.payload = {"event"}});
  queue_.AddAfter("waiting", 1h, {.payload = {"retry"}});
  queue_.AddCoalesced("coalesced", {.payload = {"burst"}});

  const auto snapshot = queue_.TakeSnapshot();

  EXPECT_EQ(snapshot.processing.at(0).payload.joined, "again");
  EXPECT_EQ(snapshot.ready.at(0).payload.joined, "event");
  EXPECT_EQ(snapshot.waiting.at(0).payload.joined, "burst");
  EXPECT_EQ(snapshot.waiting.at(1).payload.joined, "retry");
  EXPECT_EQ(Next(), "ready: event");
}

TEST_F(PayloadTest, WithPayloadsConvertsThePayloadsOfASnapshot) {
  queue_.Add("processing");
  Next();
  queue_.Add("processing", {.payload = {"again"}});
  queue_.Add("ready", {.payload = {"event"}});
  queue_.AddAfter("waiting", 1h, {.payload = {"retry"}});

  const auto snapshot = queue_.TakeSnapshot().WithPayloads(
      [](const Texts& texts) { return texts.joined.size(); });

  EXPECT_EQ(snapshot.ready.at(0).item, "ready");
  EXPECT_EQ(snapshot.ready.at(0).payload, 5);
  EXPECT_EQ(snapshot.waiting.at(0).payload, 5);
  EXPECT_EQ(snapshot.waiting.at(0).at, TimePoint{} + 1h);
  EXPECT_EQ(snapshot.processing.at(0).payload, 5);
  EXPECT_TRUE(snapshot.processing.at(0).dirty);
  EXPECT_EQ(snapshot.ready_count, 1);
  EXPECT_EQ(snapshot.waiting_count, 1);
  EXPECT_EQ(snapshot.processing_count, 1);
}

TEST_F(PayloadTest, GetWithPriorityReturnsHowLongTheItemHasWaited) {
  queue_.Add("a");
  clock_.AwaitSleepers(2);
  clock_.Advance(3s);

  EXPECT_EQ(queue_.GetWithPriority()->waited, 3s);
}

TEST(NoPayloadTest, AQueueWithoutAPayloadStoresNothingForIt) {
  struct Rest {
    std::string item;
    int priority;
    Duration waited;
  };
  EXPECT_EQ(sizeof(QueuedItem<std::string>), sizeof(Rest));
  EXPECT_EQ(sizeof(AddOptions<>), sizeof(std::optional<int>));
}

class AddedAgainTest : public ::testing::Test {
 protected:
  AddedAgainTest() {
    queue_.OnAddedAgain([this](const std::string& item) { added_again_.push_back(item); });
  }
  bool WasAddedAgain(const std::string& item) {
    return queue_.WasAddedAgain(item, [](const Texts&) { return true; });
  }

  kopp::testing::FakeClock clock_;
  DelayingQueue<std::string, Texts> queue_{{.clock = clock_}};
  std::vector<std::string> added_again_;
};

TEST_F(AddedAgainTest, EachAddWhileAnItemIsProcessedIsReported) {
  queue_.Add("a");
  queue_.Add("a");
  EXPECT_FALSE(WasAddedAgain("a"));
  static_cast<void>(queue_.Get());
  EXPECT_FALSE(WasAddedAgain("a"));
  EXPECT_TRUE(added_again_.empty());

  queue_.Add(std::string("a"));
  queue_.Add("a");

  EXPECT_TRUE(WasAddedAgain("a"));
  EXPECT_EQ(added_again_, (std::vector<std::string>{"a", "a"}));
}

TEST_F(AddedAgainTest, AnItemAddedAgainIsReturnedOnceMoreAndIsThenNotAddedAgain) {
  queue_.Add("a");
  static_cast<void>(queue_.Get());
  queue_.Add("a");
  queue_.Done("a");
  EXPECT_FALSE(WasAddedAgain("a")) << "it is not in processing";

  EXPECT_EQ(queue_.Get(), "a");
  EXPECT_FALSE(WasAddedAgain("a"));
  queue_.Done("a");
  EXPECT_EQ(queue_.Len(), 0);
}

TEST_F(AddedAgainTest, ADelayedAddIsReportedWhenItsDelayHasPassed) {
  queue_.Add("a");
  static_cast<void>(queue_.Get());
  queue_.AddAfter("a", 1s);
  EXPECT_FALSE(WasAddedAgain("a"));

  clock_.AwaitSleepers(1);
  clock_.Advance(1s);
  clock_.AwaitSleepers(1);

  EXPECT_TRUE(WasAddedAgain("a"));
  EXPECT_EQ(added_again_, std::vector<std::string>{"a"});
}

TEST_F(AddedAgainTest, TheMergedPayloadOfTheAddsIsMatched) {
  const auto payload_is = [](const char* text) {
    return [text](const Texts& texts) { return texts.joined == text; };
  };
  queue_.Add("a", {.payload = {"before"}});
  static_cast<void>(queue_.Get());
  queue_.Add("a", {.payload = {"1"}});
  queue_.Add("a", {.payload = {"2"}});

  EXPECT_TRUE(queue_.WasAddedAgain("a", payload_is("1+2")));
  EXPECT_FALSE(queue_.WasAddedAgain("a", payload_is("before")));
}

}  // namespace
}  // namespace kopp::workqueue
