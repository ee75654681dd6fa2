#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/workqueue/queue.hpp>

namespace kopp::workqueue {
namespace {

TEST(QueueTest, ItemsAreHandedOutInTheOrderInWhichTheyWereAdded) {
  Queue<std::string> queue;
  queue.Add("a");
  queue.Add("b");
  queue.Add("c");

  EXPECT_EQ(queue.Get(), "a");
  EXPECT_EQ(queue.Get(), "b");
  EXPECT_EQ(queue.Get(), "c");
}

TEST(QueueTest, AnItemAddedTwiceBeforeGetIsHandedOutOnce) {
  Queue<std::string> queue;
  queue.Add("a");
  queue.Add("a");

  EXPECT_EQ(queue.Len(), 1);
  queue.Done(*queue.Get());

  EXPECT_EQ(queue.Len(), 0);
}

TEST(QueueTest, LenCountsEachItemThatIsQueuedOnce) {
  Queue<std::string> queue;

  queue.Add("a");
  EXPECT_EQ(queue.Len(), 1);
  queue.Add("b");
  EXPECT_EQ(queue.Len(), 2);
  queue.Add("a");
  EXPECT_EQ(queue.Len(), 2);
}

TEST(QueueTest, AnItemAddedWhileInHandIsHandedOutOnceMoreAfterDoneBehindTheOthers) {
  Queue<std::string> queue;
  queue.Add("a");
  const auto in_hand = queue.Get();
  queue.Add("a");
  queue.Add("a");
  queue.Add("b");
  EXPECT_EQ(queue.Len(), 1) << "a is not ready while it is in hand";

  queue.Done(*in_hand);

  EXPECT_EQ(queue.Get(), "b");
  EXPECT_EQ(queue.Get(), "a");
  EXPECT_EQ(queue.Len(), 0);
}

TEST(QueueTest, AnotherWorkerIsHandedAnItemThatIsInHandOnlyAfterItsDone) {
  Queue<std::string> queue;
  queue.Add("a");
  const auto in_hand = queue.Get();
  queue.Add("a");
  std::atomic<bool> given_back{false};
  std::jthread other([&] {
    const auto again = queue.Get();
    EXPECT_EQ(again, "a");
    EXPECT_TRUE(given_back) << "a was in two hands";
    queue.Done(*again);
  });

  given_back = true;
  queue.Done(*in_hand);
  other.join();

  EXPECT_EQ(queue.Len(), 0);
}

TEST(QueueTest, AnItemThatIsDoneIsDestroyed) {
  Queue<std::shared_ptr<int>> queue;
  auto item = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = item;
  queue.Add(item);
  queue.Done(*queue.Get());

  item.reset();

  EXPECT_TRUE(alive.expired()) << "the queue keeps a copy";
}

TEST(QueueTest, DoneOfAQueuedItemThatIsNotInHandChangesNothing) {
  Queue<std::string> queue;
  queue.Add("a");

  queue.Done("a");

  EXPECT_EQ(queue.Len(), 1);
  EXPECT_EQ(queue.Get(), "a");
  EXPECT_EQ(queue.Len(), 0);
}

TEST(QueueTest, DoneOfAnUnknownItemOrTwiceIsIgnored) {
  Queue<std::string> queue;
  queue.Done("never seen");
  queue.Add("a");
  const auto in_hand = queue.Get();
  queue.Done(*in_hand);
  queue.Done(*in_hand);

  queue.Add("a");

  EXPECT_EQ(queue.Len(), 1);
}

TEST(QueueTest, AnEmptyItemIsAnItemLikeAnyOther) {
  Queue<std::string> queue;
  queue.Add("");

  EXPECT_EQ(queue.Get(), "");
}

TEST(QueueTest, GetWaitsForAnItem) {
  Queue<std::string> queue;
  std::optional<std::string> got;
  std::jthread worker([&] { got = queue.Get(); });

  queue.Add("a");
  worker.join();

  EXPECT_EQ(got, "a");
}

TEST(QueueTest, AfterShutDownWhatIsQueuedIsStillHandedOutAndNothingNewIsTaken) {
  Queue<std::string> queue;
  queue.Add("a");
  queue.ShutDown();
  queue.Add("b");

  EXPECT_TRUE(queue.ShuttingDown());
  EXPECT_EQ(queue.Get(), "a");
  EXPECT_EQ(queue.Get(), std::nullopt);
}

TEST(QueueTest, ShutDownWakesEveryWorker) {
  Queue<std::string> queue;
  std::vector<std::jthread> workers;
  std::atomic<int> ended{0};
  for (int i = 0; i < 8; ++i) {
    workers.emplace_back([&] { ended += queue.Get() == std::nullopt; });
  }

  queue.ShutDown();
  workers.clear();

  EXPECT_EQ(ended, 8);
}

TEST(QueueTest, ShutDownDoesNotWaitForWhatIsInHand) {
  Queue<std::string> queue;
  queue.Add("a");
  const auto in_hand = queue.Get();

  queue.ShutDown();

  EXPECT_EQ(queue.Get(), std::nullopt);
  EXPECT_EQ(in_hand, "a");
}

TEST(QueueTest, AnItemAddedWhileInHandAndThenShutDownIsStillHandedOutAgain) {
  Queue<std::string> queue;
  queue.Add("a");
  const auto in_hand = queue.Get();
  queue.Add("a");
  queue.ShutDown();
  queue.Done(*in_hand);

  EXPECT_EQ(queue.Get(), "a");
}

TEST(QueueTest, AStopTokenEndsAGetThatWaits) {
  for (int round = 0; round < 500; ++round) {  // the stop comes before, at and after the wait
    Queue<std::string> queue;
    std::optional<std::string> got = "not yet";
    std::latch about_to_get{1};
    std::jthread worker([&](const std::stop_token& stop) {
      about_to_get.count_down();
      got = queue.Get(stop);
    });
    about_to_get.wait();
    for (int i = 0; i < round % 10; ++i) std::this_thread::yield();

    worker.request_stop();
    worker.join();

    EXPECT_EQ(got, std::nullopt);
  }
}

TEST(QueueTest, AWorkerToldToStopTakesNothingMoreThoughSomethingIsQueued) {
  Queue<std::string> queue;
  queue.Add("a");
  std::stop_source source;
  source.request_stop();

  EXPECT_EQ(queue.Get(source.get_token()), std::nullopt);
  EXPECT_EQ(queue.Len(), 1);
}

TEST(QueueTest, StoppingOneWorkerLosesNoItemForTheOthers) {
  for (int round = 0; round < 500; ++round) {
    Queue<int> queue;
    std::stop_source source;
    std::optional<int> kept;
    std::optional<int> stopped;
    std::jthread stays([&] { kept = queue.Get(); });
    std::jthread goes([&] { stopped = queue.Get(source.get_token()); });
    std::jthread adds([&] { queue.Add(round); });
    source.request_stop();
    adds.join();
    goes.join();
    if (stopped) {  // it took the item before it was told to stop: the other one still waits
      queue.ShutDown();
      stays.join();
      EXPECT_EQ(kept, std::nullopt);
    } else {
      stays.join();
      EXPECT_EQ(kept, round);
    }
  }
}

TEST(QueueTest, DoneGuardGivesTheItemBackWhenTheScopeIsLeftByAThrow) {
  Queue<std::string> queue;
  queue.Add("a");
  const auto in_hand = queue.Get();

  const auto sync = [&] {
    const DoneGuard done{queue, *in_hand};
    throw std::runtime_error("sync failed");
  };
  EXPECT_THROW(sync(), std::runtime_error);
  queue.Add("a");

  EXPECT_EQ(queue.Len(), 1) << "a was in no hand, so it is ready";
}

// Q1 to Q4 of a queue's invariants, over random work by many threads.
TEST(QueueTest, UnderStressNoItemIsInTwoHandsAndEveryAddIsFollowedByAGet) {
  constexpr int kItems = 20;
  constexpr int kAdds = 20'000;
  Queue<int> queue;
  std::vector<std::atomic<int>> in_hand(kItems);
  std::vector<std::atomic<int>> wanted(kItems);  // the number of the last Add
  std::vector<std::atomic<int>> seen(kItems);    // what the last worker to take it saw there
  std::atomic<bool> shared{false};
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));

  std::vector<std::jthread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      while (const auto item = queue.Get()) {
        const DoneGuard done{queue, *item};
        const auto i = static_cast<std::size_t>(*item);
        if (in_hand[i].fetch_add(1) != 0) shared = true;
        seen[i] = wanted[i].load();
        in_hand[i].fetch_sub(1);
      }
    });
  }
  std::vector<std::jthread> producers;
  for (unsigned p = 0; p < 3; ++p) {
    producers.emplace_back([&, p] {
      std::minstd_rand random{seed + p};
      for (int n = 0; n < kAdds; ++n) {
        const int item = static_cast<int>(random() % kItems);
        wanted[static_cast<std::size_t>(item)].fetch_add(1);
        queue.Add(item);
      }
    });
  }
  producers.clear();
  queue.ShutDownWithDrain();
  workers.clear();

  EXPECT_FALSE(shared) << "an item was in two hands";
  for (std::size_t i = 0; i < kItems; ++i) EXPECT_EQ(seen[i], wanted[i]) << "item " << i;
}

}  // namespace
}  // namespace kopp::workqueue
