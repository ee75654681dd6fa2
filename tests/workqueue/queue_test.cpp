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

TEST(QueueTest, GetReturnsItemsInTheOrderOfTheirAdds) {
  Queue<std::string> queue;
  queue.Add("a");
  queue.Add("b");
  queue.Add("c");

  EXPECT_EQ(queue.Get(), "a");
  EXPECT_EQ(queue.Get(), "b");
  EXPECT_EQ(queue.Get(), "c");
}

TEST(QueueTest, AddingAnItemTwiceBeforeGetReturnsItOnce) {
  Queue<std::string> queue;
  queue.Add("a");
  queue.Add("a");

  EXPECT_EQ(queue.Len(), 1);
  queue.Done(*queue.Get());

  EXPECT_EQ(queue.Len(), 0);
}

TEST(QueueTest, LenCountsAnItemThatWasAddedTwiceOnce) {
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
  EXPECT_EQ(queue.Len(), 1) << "a is not ready while it is being processed";

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

  EXPECT_TRUE(alive.expired()) << "the queue still has a copy";
}

TEST(QueueTest, DoneOfAReadyItemDoesNothing) {
  Queue<std::string> queue;
  queue.Add("a");

  queue.Done("a");

  EXPECT_EQ(queue.Len(), 1);
  EXPECT_EQ(queue.Get(), "a");
  EXPECT_EQ(queue.Len(), 0);
}

TEST(QueueTest, DoneOfAnUnknownItemAndASecondDoneDoNothing) {
  Queue<std::string> queue;
  queue.Done("unknown");
  queue.Add("a");
  const auto processing = queue.Get();
  queue.Done(*processing);
  queue.Done(*processing);

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
  std::optional<std::string> got;
  std::jthread worker([&] { got = queue.Get(); });

  queue.Add("a");
  worker.join();

  EXPECT_EQ(got, "a");
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
  for (int round = 0; round < 500;
       ++round) {  // the stop is requested before, during and after the wait
    Queue<std::string> queue;
    std::optional<std::string> got = "not set";
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

TEST(QueueTest, GetWithARequestedStopReturnsNulloptThoughAnItemIsReady) {
  Queue<std::string> queue;
  queue.Add("a");
  std::stop_source source;
  source.request_stop();

  EXPECT_EQ(queue.Get(source.get_token()), std::nullopt);
  EXPECT_EQ(queue.Len(), 1);
}

TEST(QueueTest, StoppingOneWorkerLosesNoItem) {
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
    if (stopped_item) {  // it got the item before the stop: the other worker still waits
      queue.ShutDown();
      other.join();
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

  EXPECT_EQ(queue.Len(), 1) << "a is not in processing, so it is ready";
}

// The invariants Q1 to Q4 of README.md, under random work of many threads.
TEST(QueueTest, UnderStressItemsAreExclusiveAndEveryAddIsFollowedByAGet) {
  constexpr int kItems = 20;
  constexpr int kAdds = 20'000;
  Queue<int> queue;
  std::vector<std::atomic<int>> processing(kItems);
  std::vector<std::atomic<int>> adds(kItems);       // the number of Adds
  std::vector<std::atomic<int>> processed(kItems);  // the number of Adds when it was last processed
  std::atomic<bool> shared{false};
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));

  std::vector<std::jthread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      while (const auto item = queue.Get()) {
        const DoneGuard done{queue, *item};
        const auto i = static_cast<std::size_t>(*item);
        if (processing[i].fetch_add(1) != 0) shared = true;
        processed[i] = adds[i].load();
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

  EXPECT_FALSE(shared) << "two workers processed an item at once";
  for (std::size_t i = 0; i < kItems; ++i) EXPECT_EQ(processed[i], adds[i]) << "item " << i;
}

}  // namespace
}  // namespace kopp::workqueue
