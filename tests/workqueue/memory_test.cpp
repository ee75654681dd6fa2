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

// What a rush makes a queue take, it gives back.
class MemoryTest : public ::testing::Test {
 protected:
  static constexpr int kRush = 100'000;
  static constexpr std::size_t kLittle = 100'000;  // bytes

  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers allocate in a way of their own";
#endif
  }

  static std::size_t Allocated() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }

  static void Rush(Queue<std::string>& queue) {
    for (int i = 0; i < kRush; ++i) queue.Add(std::to_string(i));
    while (queue.Len() > 0) queue.Done(*queue.Get());
  }

  kopp::testing::FakeClock clock_;
};

TEST_F(MemoryTest, AQueueThatRanEmptyIsSmallAgain) {
  Queue<std::string> queue;
  const std::size_t before = Allocated();
  Rush(queue);

  EXPECT_LE(Allocated(), before + kLittle);
}

TEST_F(MemoryTest, AQueueWithPrioritiesAndTimesThatRanEmptyIsSmallAgain) {
  Queue<std::string> queue({.order = Order::Priority(), .track_times = true});
  const std::size_t before = Allocated();
  Rush(queue);

  EXPECT_LE(Allocated(), before + kLittle);
}

TEST_F(MemoryTest, ADelayingQueueInWhichNothingWaitsAnyMoreIsSmallAgain) {
  DelayingQueue<std::string> queue({.clock = clock_});
  const std::size_t before = Allocated();
  for (int i = 0; i < kRush; ++i) queue.AddAfter(std::to_string(i), 1s);
  clock_.AwaitSleepers(1);
  clock_.Advance(1s);
  clock_.AwaitSleepers(1);
  while (queue.Len() > 0) queue.Done(*queue.Get());

  EXPECT_LE(Allocated(), before + kLittle);
}

TEST_F(MemoryTest, ShutDownGivesBackWhatWaitedTook) {
  DelayingQueue<std::string> queue({.clock = clock_});
  const std::size_t before = Allocated();
  for (int i = 0; i < kRush; ++i) queue.AddAfter(std::to_string(i), 1s);
  queue.ShutDown();

  EXPECT_LE(Allocated(), before + kLittle);
}

TEST_F(MemoryTest, ALimiterForgetsKeysThatNobodyForgets) {
  ItemExponentialFailureRateLimiter<std::string> limiter(5ms, 1s, clock_);
  const std::size_t before = Allocated();
  for (int i = 0; i < kRush; ++i) static_cast<void>(limiter.When(std::to_string(i)));
  EXPECT_GT(Allocated(), before + kLittle);
  clock_.Advance(5s);
  static_cast<void>(limiter.When("sweeps"));
  limiter.Forget("sweeps");

  EXPECT_LE(Allocated(), before + kLittle);
}

}  // namespace
}  // namespace kopp::workqueue
