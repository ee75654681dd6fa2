#include <atomic>
#include <latch>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/workqueue/queue.hpp>

namespace kopp::workqueue {
namespace {

TEST(QueueTest, DrainWaitsForReadyItemsAndForItemsInProcessing) {
  Queue<std::string> queue;
  queue.Add("processing");
  queue.Add("queued");
  const auto processing = queue.Get();
  std::atomic<bool> drained{false};
  std::jthread drainer([&] {
    queue.ShutDownWithDrain();
    drained = true;
  });
  while (!queue.ShuttingDown()) std::this_thread::yield();  // the drainer now waits

  queue.Done(*processing);
  const auto queued = queue.Get();
  EXPECT_EQ(queued, "queued");
  EXPECT_FALSE(drained) << "the drain returned although an item is being processed";
  queue.Done(*queued);
  drainer.join();

  EXPECT_TRUE(drained);
}

TEST(QueueTest, DrainWaitsForAnItemAddedWhileProcessing) {
  Queue<std::string> queue;
  queue.Add("a");
  const auto first = queue.Get();
  queue.Add("a");
  std::atomic<bool> drained{false};
  std::jthread drainer([&] {
    queue.ShutDownWithDrain();
    drained = true;
  });
  while (!queue.ShuttingDown()) std::this_thread::yield();  // the drainer now waits

  queue.Done(*first);
  const auto second = queue.Get();
  EXPECT_EQ(second, "a");
  EXPECT_FALSE(drained) << "the drain returned although an item is being processed";
  queue.Done(*second);
  drainer.join();

  EXPECT_EQ(queue.Get(), std::nullopt);
}

TEST(QueueTest, SeveralThreadsCanDrainAtOnce) {
  Queue<std::string> queue;
  queue.Add("a");
  const auto processing = queue.Get();
  std::atomic<int> drained{0};
  std::latch started{4};
  std::vector<std::jthread> drainers;
  for (int i = 0; i < 4; ++i) {
    drainers.emplace_back([&] {
      started.count_down();
      queue.ShutDownWithDrain();
      ++drained;
    });
  }
  started.wait();

  queue.Done(*processing);
  drainers.clear();

  EXPECT_EQ(drained, 4);
}

TEST(QueueTest, ShutDownUnblocksDrainersWhenAWorkerNeverCallsDone) {
  Queue<std::string> queue;
  queue.Add("stuck");
  const auto stuck = queue.Get();
  std::jthread first([&] { queue.ShutDownWithDrain(); });
  std::jthread second([&] { queue.ShutDownWithDrain(); });
  while (!queue.ShuttingDown()) std::this_thread::yield();

  // ShutDown is repeated, because the second drain can start after the first ShutDown.
  std::jthread shut_down([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) queue.ShutDown();
  });
  first.join();
  second.join();

  EXPECT_EQ(stuck, "stuck");
}

TEST(QueueTest, DrainOfAnIdleQueueReturnsImmediately) {
  Queue<std::string> queue;
  queue.ShutDownWithDrain();
  queue.ShutDownWithDrain();

  EXPECT_EQ(queue.Get(), std::nullopt);
}

}  // namespace
}  // namespace kopp::workqueue
