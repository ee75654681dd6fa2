#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;

// A limiter that calls a function of the test.
class ScriptedLimiter final : public RateLimiter<std::string> {
 public:
  explicit ScriptedLimiter(std::function<Duration(const std::string&)> when)
      : when_(std::move(when)) {}
  Duration When(const std::string& item) override { return when_(item); }
  void Forget(const std::string&) override {}
  [[nodiscard]] int NumRequeues(const std::string&) override { return 0; }

 private:
  std::function<Duration(const std::string&)> when_;
};

TEST(BadInputTest, EmptyAndMegabyteItemsAreValid) {
  const std::string large(1 << 20, 'x');
  const std::string other = std::string((1 << 20) - 1, 'x') + "y";
  RateLimitingQueue<std::string> queue;
  for (int i = 0; i < 2; ++i) {
    for (const auto& item : {std::string(), large, other}) queue.Add(item);
  }
  queue.AddRateLimited(large);
  queue.AddRateLimited("");

  EXPECT_EQ(queue.Len(), 3);
  EXPECT_EQ(queue.Get(), "");
  EXPECT_EQ(queue.Get(), large);
  EXPECT_EQ(queue.Get(), other);
  EXPECT_EQ(queue.NumRequeues(large), 1);
  EXPECT_EQ(queue.NumRequeues(other), 0);
  queue.Done(large);
}

TEST(BadInputTest, ItemsWithZeroBytesAreDistinguished) {
  Queue<std::string> queue;
  queue.Add(std::string("a\0b", 3));
  queue.Add(std::string("a\0c", 3));
  queue.Add("a");

  EXPECT_EQ(queue.Len(), 3);
}

TEST(BadInputTest, AnExceptionOfALimiterReachesTheCallerAndTheItemIsNotAdded) {
  kopp::testing::FakeClock clock;
  RateLimitingQueue<std::string> queue(
      {.clock = clock}, std::make_unique<ScriptedLimiter>([](const std::string&) -> Duration {
        throw std::runtime_error("broken limiter");
      }));

  EXPECT_THROW(queue.AddRateLimited("a"), std::runtime_error);
  EXPECT_THROW(queue.AddWithOptions("a", {.rate_limited = true}), std::runtime_error);

  EXPECT_EQ(queue.Len(), 0);
  EXPECT_EQ(queue.TakeSnapshot().waiting_count, 0);
  queue.Add("b");
  EXPECT_EQ(queue.Get(), "b") << "the queue does not work after the exception";
}

TEST(BadInputTest, ALimiterCanCallTheQueue) {
  RateLimitingQueue<std::string>* self = nullptr;
  RateLimitingQueue<std::string> queue({},
                                       std::make_unique<ScriptedLimiter>([&](const std::string&) {
                                         self->Add("from the limiter");
                                         return Duration::zero();
                                       }));
  self = &queue;
  queue.AddRateLimited("a");

  EXPECT_EQ(queue.Get(), "from the limiter");
  EXPECT_EQ(queue.Get(), "a");
}

TEST(BadInputTest, ANegativeDelayFromALimiterAddsImmediately) {
  RateLimitingQueue<std::string> queue(
      {}, std::make_unique<ScriptedLimiter>([](const std::string&) { return Duration::min(); }));
  queue.AddRateLimited("a");

  EXPECT_EQ(queue.Len(), 1);
}

TEST(BadInputTest, LimitersWithMaximumDelaysDoNotOverflow) {
  ItemExponentialFailureRateLimiter<int> longest(Duration::max(), Duration::max());
  ItemFastSlowRateLimiter<int> slow(Duration::zero(), Duration::max(), 0);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(longest.When(1), Duration::max());
    EXPECT_EQ(slow.When(1), Duration::max());
  }
}

TEST(BadInputTest, CallsAfterShutDownAddNoItems) {
  kopp::testing::FakeClock clock;
  RateLimitingQueue<std::string> queue({.clock = clock});
  queue.ShutDown();
  queue.ShutDown();
  queue.ShutDownWithDrain();

  queue.Add("a");
  queue.AddAfter("a", 1s);
  queue.AddAfter("a", -1s);
  queue.AddRateLimited("a");
  queue.Done("a");
  queue.Forget("a");

  EXPECT_EQ(queue.Get(), std::nullopt);
  EXPECT_EQ(queue.GetWithPriority(), std::nullopt);
  EXPECT_EQ(queue.Len(), 0);
}

// An item whose hash is always the same.
struct CollidingItem {
  int value = 0;
  friend bool operator==(const CollidingItem&, const CollidingItem&) = default;
};

// An item whose next `failing_copies` copies, and next `failing_hashes` hashes, throw.
struct ThrowingItem {
  static inline std::atomic<int> failing_copies = 0;
  static inline std::atomic<int> failing_hashes = 0;
  int value = 0;

  explicit ThrowingItem(int v) : value(v) {}
  ThrowingItem(const ThrowingItem& other) : value(other.value) {
    if (failing_copies > 0 && failing_copies-- > 0) throw std::bad_alloc();
  }
  ThrowingItem(ThrowingItem&& other) noexcept : value(other.value) {}
  ThrowingItem& operator=(const ThrowingItem& other) = default;
  ThrowingItem& operator=(ThrowingItem&& other) = default;
  ~ThrowingItem() = default;
  friend bool operator==(const ThrowingItem&, const ThrowingItem&) = default;
};

}  // namespace
}  // namespace kopp::workqueue

template <>
struct std::hash<kopp::workqueue::CollidingItem> {
  std::size_t operator()(const kopp::workqueue::CollidingItem&) const { return 7; }
};
template <>
struct std::hash<kopp::workqueue::ThrowingItem> {
  std::size_t operator()(const kopp::workqueue::ThrowingItem& item) const {
    auto& failing = kopp::workqueue::ThrowingItem::failing_hashes;
    if (failing > 0 && failing-- > 0) throw std::bad_alloc();
    return static_cast<std::size_t>(item.value);
  }
};

namespace kopp::workqueue {
namespace {

TEST(BadInputTest, ItemsWithEqualHashesAreDistinguished) {
  Queue<CollidingItem> queue;
  for (int i = 0; i < 100; ++i) queue.Add({i});
  for (int i = 0; i < 100; i += 2) {
    EXPECT_EQ(queue.Get(), CollidingItem{i});
    EXPECT_EQ(queue.Get(), CollidingItem{i + 1});
    queue.Done({i});
  }
  for (int i = 1; i < 100; i += 2) queue.Done({i});

  EXPECT_EQ(queue.TakeSnapshot().stray_dones, 0);
  EXPECT_EQ(queue.TakeSnapshot().processing_count, 0);
}

TEST(BadInputTest, AnItemWhoseThrowingItemIsNeitherAddedNorLost) {
  Queue<ThrowingItem> queue;
  queue.Add(ThrowingItem(1));
  const ThrowingItem second(2);
  ThrowingItem::failing_copies = 2;

  EXPECT_THROW(queue.Add(second), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(queue.Get()), std::bad_alloc);

  EXPECT_EQ(queue.Len(), 1);
  EXPECT_EQ(queue.Get(), ThrowingItem(1));
  queue.Add(second);
  EXPECT_EQ(queue.Get(), second);
}

TEST(BadInputTest, ADelayedItemWhoseHashThrowsIsAddedASecondLaterAndDelaysNoOther) {
  kopp::testing::FakeClock clock;
  DelayingQueue<ThrowingItem> queue({.clock = clock});
  queue.AddAfter(ThrowingItem(1), 10s);
  queue.AddAfter(ThrowingItem(2), 10s);
  clock.AwaitSleeperFor(10s);
  ThrowingItem::failing_hashes = 1;

  clock.Advance(10s);
  EXPECT_EQ(queue.Get(), ThrowingItem(2));
  clock.AwaitSleeperFor(1s);
  EXPECT_EQ(queue.Len(), 0);
  EXPECT_EQ(queue.TakeSnapshot().waiting_count, 1);
  clock.Advance(1s);

  EXPECT_EQ(queue.Get(), ThrowingItem(1));
}

TEST(BadInputTest, AnItemWhoseThrowingItemIsReturnedToAnotherWaitingWorker) {
  Queue<ThrowingItem> queue;
  std::atomic<int> failed{0};
  std::atomic<int> returned{0};
  std::vector<std::jthread> workers;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back([&] {
      try {
        while (const auto item = queue.Get()) {
          ++returned;
          queue.Done(*item);
        }
      } catch (const std::bad_alloc&) {
        ++failed;
      }
    });
  }

  ThrowingItem::failing_copies = 1;
  queue.Add(ThrowingItem(1));
  while (returned == 0) std::this_thread::yield();
  queue.ShutDown();
  workers.clear();

  EXPECT_EQ(failed, 1);
  EXPECT_EQ(returned, 1);
}

}  // namespace
}  // namespace kopp::workqueue
