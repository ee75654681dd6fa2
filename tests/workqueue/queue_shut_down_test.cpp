#include <atomic>
#include <cstddef>
#include <map>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/workqueue/queue.hpp>

namespace kopp::workqueue {
namespace {

// Runs many producers and workers. The parameter selects ShutDownWithDrain (true) or ShutDown
// (false).
class QueueShutDownTest : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr int kProducers = 50;
  static constexpr int kWorkers = 10;
  static constexpr int kLateItem = -1;  // added after the shutdown

  /// Calls `produce` for 0, 1, … kProducers - 1 and `work` for each item until the shutdown.
  template <typename Produce, typename Work>
  void Run(Produce produce, Work work) {
    std::vector<std::jthread> producers;
    for (int i = 0; i < kProducers; ++i) producers.emplace_back(produce, i);
    std::vector<std::jthread> workers;
    for (int w = 0; w < kWorkers; ++w) {
      // Each worker has its own copy of the state of `work`.
      workers.emplace_back([&, process = work]() mutable {
        while (const auto item = queue_.Get()) {
          const DoneGuard done{queue_, *item};
          ++processing_;
          process(*item);
          --processing_;
        }
      });
    }
    producers.clear();
    if (GetParam()) {
      queue_.ShutDownWithDrain();
      EXPECT_EQ(queue_.Len(), 0);
      EXPECT_EQ(processing_, 0);
    } else {
      queue_.ShutDown();
    }
    queue_.Add(kLateItem);
  }

  Queue<int> queue_;

 private:
  std::atomic<int> processing_{0};
};

TEST_P(QueueShutDownTest, ItemsAddedBeforeShutdownAreProcessedAndItemsAddedAfterItAreIgnored) {
  std::vector<std::atomic<int>> processed(kProducers);
  std::atomic<bool> late_item_was_processed{false};

  Run(
      [&](int item) {
        for (int n = 0; n < 50; ++n) queue_.Add(item);
      },
      [&](int item) {
        // Until the shutdown the other items stay queued.
        while (!queue_.ShuttingDown()) std::this_thread::yield();
        if (item == kLateItem) {
          late_item_was_processed = true;
        } else {
          ++processed[static_cast<std::size_t>(item)];
        }
      });

  EXPECT_FALSE(late_item_was_processed);
  EXPECT_EQ(queue_.Len(), 0);
  for (std::size_t i = 0; i < kProducers; ++i) EXPECT_GE(processed[i], 1) << "item " << i;
}

TEST_P(QueueShutDownTest, NoItemIsQueuedAfterShutdownWhenWorkersAddTheirItemsAgain) {
  Run([&](int item) { queue_.Add(item); },
      [&, times = std::map<int, int>()](int item) mutable {
        if (++times[item] < 2) queue_.Add(item);
      });

  EXPECT_EQ(queue_.Len(), 0);
}

INSTANTIATE_TEST_SUITE_P(, QueueShutDownTest, ::testing::Bool(), [](const auto& with_drain) {
  return with_drain.param ? "ShutDownWithDrain" : "ShutDown";
});

}  // namespace
}  // namespace kopp::workqueue
