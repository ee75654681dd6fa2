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

TEST(BadInputTest, EmptyAndMegabyteKeysAreValid) {
  const std::string large(1 << 20, 'x');
  const std::string other = std::string((1 << 20) - 1, 'x') + "y";
  RateLimitingQueue<std::string> queue;
  for (int i = 0; i < 2; ++i) {
    for (const auto& key : {std::string(), large, other}) queue.Add(key);
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

TEST(BadInputTest, KeysWithZeroBytesAreDistinguished) {
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
  EXPECT_EQ(queue.Get(), "b") << "the queue still works";
}

TEST(BadInputTest, ALimiterMayCallTheQueue) {
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

TEST(BadInputTest, LimitersWithNegativeOrMaximumDelaysDoNotOverflow) {
  ItemExponentialFailureRateLimiter<int> negative(-1s, 1s);
  ItemExponentialFailureRateLimiter<int> longest(Duration::max(), Duration::max());
  ItemExponentialFailureRateLimiter<int> nothing(Duration::min(), Duration::min());
  ItemFastSlowRateLimiter<int> slow(Duration::min(), Duration::max(), 0);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(negative.When(1), -1s);
    EXPECT_EQ(longest.When(1), Duration::max());
    EXPECT_EQ(nothing.When(1), Duration::min());
    EXPECT_EQ(slow.When(1), Duration::max());
  }
}

TEST(BadInputTest, EveryCallAfterShutDownIsHarmless) {
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

// Items whose hashes are all equal.
struct Colliding {
  int value = 0;
  friend bool operator==(const Colliding&, const Colliding&) = default;
};

// The next `throws` copies throw.
struct CopyThrows {
  static inline std::atomic<int> throws = 0;
  int value = 0;

  explicit CopyThrows(int v) : value(v) {}
  CopyThrows(const CopyThrows& other) : value(other.value) {
    if (throws > 0 && throws-- > 0) throw std::bad_alloc();
  }
  CopyThrows(CopyThrows&& other) noexcept : value(other.value) {}
  CopyThrows& operator=(const CopyThrows& other) = default;
  CopyThrows& operator=(CopyThrows&& other) = default;
  ~CopyThrows() = default;
  friend bool operator==(const CopyThrows&, const CopyThrows&) = default;
};

}  // namespace
}  // namespace kopp::workqueue

template <>
struct std::hash<kopp::workqueue::Colliding> {
  std::size_t operator()(const kopp::workqueue::Colliding&) const { return 7; }
};
template <>
struct std::hash<kopp::workqueue::CopyThrows> {
  std::size_t operator()(const kopp::workqueue::CopyThrows& item) const {
    return static_cast<std::size_t>(item.value);
  }
};

namespace kopp::workqueue {
namespace {

TEST(BadInputTest, ItemsWithEqualHashesAreDistinguished) {
  Queue<Colliding> queue;
  for (int i = 0; i < 100; ++i) queue.Add({i});
  for (int i = 0; i < 100; i += 2) {
    EXPECT_EQ(queue.Get(), Colliding{i});
    EXPECT_EQ(queue.Get(), Colliding{i + 1});
    queue.Done({i});
  }
  for (int i = 1; i < 100; i += 2) queue.Done({i});

  EXPECT_EQ(queue.TakeSnapshot().stray_dones, 0);
  EXPECT_EQ(queue.TakeSnapshot().processing_count, 0);
}

TEST(BadInputTest, AnItemWhoseCopyThrowsIsNeitherAddedNorLost) {
  Queue<CopyThrows> queue;
  queue.Add(CopyThrows(1));
  const CopyThrows second(2);
  CopyThrows::throws = 2;

  EXPECT_THROW(queue.Add(second), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(queue.Get()), std::bad_alloc);

  EXPECT_EQ(queue.Len(), 1);
  EXPECT_EQ(queue.Get(), CopyThrows(1));
  queue.Add(second);
  EXPECT_EQ(queue.Get(), second);
}

TEST(BadInputTest, AnItemWhoseCopyThrowsIsReturnedToAnotherWaitingWorker) {
  Queue<CopyThrows> queue;
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

  CopyThrows::throws = 1;
  queue.Add(CopyThrows(1));
  while (returned == 0) std::this_thread::yield();
  queue.ShutDown();
  workers.clear();

  EXPECT_EQ(failed, 1);
  EXPECT_EQ(returned, 1);
}

}  // namespace
}  // namespace kopp::workqueue
