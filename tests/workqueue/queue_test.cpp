#include "test_seed.hpp"

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

TEST(QueueTest, GetReturnsItemsInTheOrderInWhichTheyWereAdded) {
  Queue<std::string> queue;
  queue.Add("a");
  queue.Add("b");
  queue.Add("c");

  EXPECT_EQ(queue.Get(), "a");
  EXPECT_EQ(queue.Get(), "b");
  EXPECT_EQ(queue.Get(), "c");
}

TEST(QueueTest, AnItemAddedTwiceBeforeGetIsReturnedOnce) {
  Queue<std::string> queue;
  queue.Add("a");
  queue.Add("a");

  EXPECT_EQ(queue.Len(), 1);
  EXPECT_EQ(queue.Get(), "a");
  queue.Done("a");

  EXPECT_EQ(queue.Len(), 0);
}

TEST(QueueTest, LenCountsADuplicateItemOnlyOnce) {
  Queue<std::string> queue;

  queue.Add("a");
  EXPECT_EQ(queue.Len(), 1);
  queue.Add("b");
  EXPECT_EQ(queue.Len(), 2);
  queue.Add("a");
  EXPECT_EQ(queue.Len(), 2);
}

TEST(QueueTest, AnItemAddedWhileProcessingIsQueuedLastByDone) {
  Queue<std::string> queue;
  queue.Add("a");
  const auto processing = queue.Get();
  queue.Add("a");
  queue.Add("a");
  queue.Add("b");
  EXPECT_EQ(queue.Len(), 1) << "a is ready although it is being processed";

  queue.Done(*processing);

  EXPECT_EQ(queue.Get(), "b");
  EXPECT_EQ(queue.Get(), "a");
  EXPECT_EQ(queue.Len(), 0);
}

TEST(QueueTest, AnItemInProcessingIsReturnedToAnotherWorkerOnlyAfterDone) {
  Queue<std::string> queue;
  queue.Add("a");
  const auto processing = queue.Get();
  queue.Add("a");
  std::atomic<bool> done{false};
  std::jthread other([&] {
    const auto again = queue.Get();
    EXPECT_EQ(again, "a");
    EXPECT_TRUE(done) << "two workers processed a";
    queue.Done(*again);
  });

  done = true;
  queue.Done(*processing);
  other.join();

  EXPECT_EQ(queue.Len(), 0);
}

TEST(QueueTest, DoneDestroysTheItem) {
  Queue<std::shared_ptr<int>> queue;
  auto item = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = item;
  queue.Add(item);
  queue.Done(*queue.Get());

  item.reset();

  EXPECT_TRUE(alive.expired()) << "the queue still has a copy of the item";
}

TEST(QueueTest, DoneOfAReadyItemKeepsTheItemReady) {
  Queue<std::string> queue;
  queue.Add("a");

  queue.Done("a");

  EXPECT_EQ(queue.Len(), 1);
  EXPECT_EQ(queue.Get(), "a");
  EXPECT_EQ(queue.Len(), 0);
}

TEST(QueueTest, DoneOfAnItemThatIsNotInProcessingDoesNotChangeLen) {
  Queue<std::string> queue;
  queue.Done("unknown");
  EXPECT_EQ(queue.Len(), 0);
  queue.Add("a");
  const auto processing = queue.Get();
  queue.Done(*processing);
  queue.Done(*processing);
  EXPECT_EQ(queue.Len(), 0);

  queue.Add("a");

  EXPECT_EQ(queue.Len(), 1);
}

TEST(QueueTest, AnEmptyStringIsAValidItem) {
  Queue<std::string> queue;
  queue.Add("");

  EXPECT_EQ(queue.Get(), "");
}

TEST(QueueTest, GetBlocksUntilAnItemIsAdded) {
  Queue<std::string> queue;
  std::optional<std::string> returned;
  std::jthread worker([&] { returned = queue.Get(); });

  queue.Add("a");
  worker.join();

  EXPECT_EQ(returned, "a");
}

TEST(QueueTest, AfterShutDownGetReturnsQueuedItemsAndAddIsIgnored) {
  Queue<std::string> queue;
  queue.Add("a");
  queue.ShutDown();
  queue.Add("b");

  EXPECT_TRUE(queue.ShuttingDown());
  EXPECT_EQ(queue.Get(), "a");
  EXPECT_EQ(queue.Get(), std::nullopt);
}

TEST(QueueTest, ShutDownWakesAllWorkers) {
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

TEST(QueueTest, ShutDownDoesNotWaitForItemsInProcessing) {
  Queue<std::string> queue;
  queue.Add("a");
  const auto processing = queue.Get();

  queue.ShutDown();

  EXPECT_EQ(queue.Get(), std::nullopt);
  EXPECT_EQ(processing, "a");
}

TEST(QueueTest, AnItemAddedWhileProcessingIsReturnedAgainAfterShutDown) {
  Queue<std::string> queue;
  queue.Add("a");
  const auto processing = queue.Get();
  queue.Add("a");
  queue.ShutDown();
  queue.Done(*processing);

  EXPECT_EQ(queue.Get(), "a");
}

TEST(QueueTest, AStopRequestUnblocksGet) {
  // Depending on the round, the stop is requested before, during or after the wait.
  for (int round = 0; round < 500; ++round) {
    Queue<std::string> queue;
    std::optional<std::string> returned = "not set";
    std::latch about_to_get{1};
    std::jthread worker([&](const std::stop_token& stop) {
      about_to_get.count_down();
      returned = queue.Get(stop);
    });
    about_to_get.wait();
    for (int i = 0; i < round % 10; ++i) std::this_thread::yield();

    worker.request_stop();
    worker.join();

    EXPECT_EQ(returned, std::nullopt);
  }
}

TEST(QueueTest, GetReturnsNulloptIfAStopIsRequestedEvenIfAnItemIsReady) {
  Queue<std::string> queue;
  queue.Add("a");
  std::stop_source source;
  source.request_stop();

  EXPECT_EQ(queue.Get(source.get_token()), std::nullopt);
  EXPECT_EQ(queue.Len(), 1);
}

TEST(QueueTest, AnItemAddedWhileOneWorkerStopsIsReturnedByOneOfTheWorkers) {
  for (int round = 0; round < 500; ++round) {
    Queue<int> queue;
    std::stop_source source;
    std::optional<int> other_item;
    std::optional<int> stopped_item;
    std::jthread other([&] { other_item = queue.Get(); });
    std::jthread stopped([&] { stopped_item = queue.Get(source.get_token()); });
    std::jthread producer([&] { queue.Add(round); });
    source.request_stop();
    producer.join();
    stopped.join();
    if (stopped_item) {
      // The stopped worker took the item before the stop. The other worker still waits.
      queue.ShutDown();
      other.join();
      EXPECT_EQ(stopped_item, round);
      EXPECT_EQ(other_item, std::nullopt);
    } else {
      other.join();
      EXPECT_EQ(other_item, round);
    }
  }
}

TEST(QueueTest, DoneGuardCallsDoneWhenAnExceptionLeavesTheScope) {
  Queue<std::string> queue;
  queue.Add("a");
  const auto processing = queue.Get();

  const auto sync = [&] {
    const DoneGuard done{queue, *processing};
    throw std::runtime_error("sync failed");
  };
  EXPECT_THROW(sync(), std::runtime_error);
  queue.Add("a");

  EXPECT_EQ(queue.Len(), 1) << "DoneGuard did not call Done: a is still in processing";
}

// Checks the invariants Q1, Q2 and Q4 of tests/workqueue/README.md with random calls on many
// threads.
TEST(QueueTest, EachItemIsProcessedByOneWorkerAtATimeAndAfterItsLastAddUnderLoad) {
  constexpr int kItems = 20;
  constexpr int kAdds = 20'000;
  Queue<int> queue;
  std::vector<std::atomic<int>> processing(kItems);
  std::vector<std::atomic<int>> adds(kItems);  // the number of Adds
  // The number of Adds when the item was last processed.
  std::vector<std::atomic<int>> adds_when_processed(kItems);
  std::atomic<bool> processed_concurrently{false};
  const unsigned seed = TestSeed();

  std::vector<std::jthread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      while (const auto item = queue.Get()) {
        const DoneGuard done{queue, *item};
        const auto i = static_cast<std::size_t>(*item);
        if (processing[i].fetch_add(1) != 0) processed_concurrently = true;
        adds_when_processed[i] = adds[i].load();
        processing[i].fetch_sub(1);
      }
    });
  }
  std::vector<std::jthread> producers;
  for (unsigned p = 0; p < 3; ++p) {
    producers.emplace_back([&, p] {
      std::minstd_rand random{seed + p};
      for (int n = 0; n < kAdds; ++n) {
        const int item = static_cast<int>(random() % kItems);
        adds[static_cast<std::size_t>(item)].fetch_add(1);
        queue.Add(item);
      }
    });
  }
  producers.clear();
  queue.ShutDownWithDrain();
  workers.clear();

  EXPECT_EQ(queue.Len(), 0);
  EXPECT_FALSE(processed_concurrently) << "two workers processed an item at the same time";
  for (std::size_t i = 0; i < kItems; ++i) {
    EXPECT_EQ(adds_when_processed[i], adds[i])
        << "item " << i << " was not processed after its last Add";
  }
}

}  // namespace
}  // namespace kopp::workqueue
