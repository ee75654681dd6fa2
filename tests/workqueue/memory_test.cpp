#include <chrono>
#include <cstddef>
#include <string>

#include <gtest/gtest.h>
#include <malloc.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;

// Tests that a queue or a limiter that held many items frees their memory.
class MemoryTest : public ::testing::Test {
 protected:
  static constexpr int kManyItems = 100'000;
  static constexpr std::size_t kTolerance = 100'000;  // in bytes

  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers have their own allocators";
#endif
  }

  static std::size_t Allocated() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }

  static void ProcessManyItems(Queue<std::string>& queue) {
    for (int i = 0; i < kManyItems; ++i) queue.Add(std::to_string(i));
    while (queue.Len() > 0) queue.Done(*queue.Get());
  }

  kopp::testing::FakeClock clock_;
};

TEST_F(MemoryTest, AnEmptyQueueFreesItsMemory) {
  Queue<std::string> queue;
  const std::size_t before = Allocated();
  ProcessManyItems(queue);

  EXPECT_LE(Allocated(), before + kTolerance);
}

TEST_F(MemoryTest, AnEmptyPriorityQueueWithTimesFreesItsMemory) {
  Queue<std::string> queue({.order = Order::Priority(), .track_times = true});
  const std::size_t before = Allocated();
  ProcessManyItems(queue);

  EXPECT_LE(Allocated(), before + kTolerance);
}

TEST_F(MemoryTest, ADelayingQueueWithoutWaitingItemsFreesItsMemory) {
  DelayingQueue<std::string> queue({.clock = clock_});
  const std::size_t before = Allocated();
  for (int i = 0; i < kManyItems; ++i) queue.AddAfter(std::to_string(i), 1s);
  clock_.AwaitSleepers(1);
  clock_.Advance(1s);
  clock_.AwaitSleepers(1);
  while (queue.Len() > 0) queue.Done(*queue.Get());

  EXPECT_LE(Allocated(), before + kTolerance);
}

TEST_F(MemoryTest, ShutDownFreesTheMemoryOfWaitingItems) {
  DelayingQueue<std::string> queue({.clock = clock_});
  const std::size_t before = Allocated();
  for (int i = 0; i < kManyItems; ++i) queue.AddAfter(std::to_string(i), 1s);
  queue.ShutDown();

  EXPECT_LE(Allocated(), before + kTolerance);
}

TEST_F(MemoryTest, ALimiterFreesTheMemoryOfExpiredItems) {
  ItemExponentialFailureRateLimiter<std::string> limiter(5ms, 1s, clock_);
  const std::size_t before = Allocated();
  for (int i = 0; i < kManyItems; ++i) static_cast<void>(limiter.When(std::to_string(i)));
  EXPECT_GT(Allocated(), before + kTolerance);
  clock_.Advance(5s);
  static_cast<void>(limiter.When("cleans up"));
  limiter.Forget("cleans up");

  EXPECT_LE(Allocated(), before + kTolerance);
}

}  // namespace
}  // namespace kopp::workqueue
