// Compares the parts of the queues with simple models: both get the same calls.
#include "parts_adapter.hpp"
#include "properties.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace kopp::proof {

namespace {

using Handle = std::uint32_t;
constexpr Handle kNoHandle = TableUnderTest::kNoHandle;
using Parts = Implementations<PartFactories>;

const Parts real_parts("", MakePartFactories<workqueue::detail::ItemTable<Counted, int>,
                                             workqueue::detail::DelayHeap<Counted>,
                                             workqueue::detail::FailureCounts<Counted>>());

struct Command {
  int kind = 0;
  int key = 0;
  int number = 0;

  friend std::ostream& operator<<(std::ostream& out, const Command& command) {
    return out << "(kind " << command.kind << ", key " << command.key << ", number "
               << command.number << ")";
  }
};

rc::Gen<std::vector<Command>> Commands(const rc::Gen<int>& kind, int keys, int numbers) {
  return rc::gen::scale(4.0, rc::gen::container<std::vector<Command>>(rc::gen::build<Command>(
                                 rc::gen::set(&Command::kind, kind),
                                 rc::gen::set(&Command::key, rc::gen::inRange(0, keys)),
                                 rc::gen::set(&Command::number, rc::gen::inRange(0, numbers)))));
}

// ItemTable

/// Hashes of which some are equal, some adjacent, and some at the end of the index.
std::uint32_t HashOf(int key) {
  constexpr std::uint32_t kHashes[] = {14, 15, 0, 30, 0xFFFF'FFFF, 1, 15, 0xFFFF'FFF0};
  return kHashes[static_cast<std::size_t>(key) % std::size(kHashes)];
}

TEST(ItemTableModelTest, BehavesLikeAMapAndDestroysErasedItems) {
  enum { kInsert, kErase, kClear };
  ExpectHolds([] {
    const auto table = Parts::Selected().table();
    std::map<int, int> model;
    const auto kinds = rc::gen::weightedElement<int>({{60, kInsert}, {40, kErase}, {1, kClear}});
    for (const auto& [kind, key, number] : *Commands(kinds, 24, 1000)) {
      const Handle found = table->Find(Counted(key), HashOf(key));
      RC_ASSERT((found != kNoHandle) == model.contains(key));
      if (kind == kInsert) {
        const auto [handle, is_new] = table->Insert(Counted(key), HashOf(key));
        RC_ASSERT(is_new == !model.contains(key));
        RC_ASSERT(!is_new || table->ValueOf(handle) == 0);
        table->ValueOf(handle) = model[key] = number;
      } else if (kind == kErase && found != kNoHandle) {
        table->Erase(found);
        model.erase(key);
      } else if (kind == kClear) {
        table->Clear();
        model.clear();
      }
      for (const auto& [each, value] : model) {
        const Handle handle = table->Find(Counted(each), HashOf(each));
        RC_ASSERT(handle != kNoHandle);
        RC_ASSERT(table->ItemOf(handle).id() == each);
        RC_ASSERT(table->ValueOf(handle) == value);
      }
      std::size_t visited = 0;
      table->ForEach([&](Handle) { return ++visited > 0; });
      RC_ASSERT(visited == model.size());
      RC_ASSERT(table->size() == model.size());
      RC_ASSERT(Counted::alive == model.size());
    }
  });
}

// DelayHeap

TEST(DelayHeapModelTest, KeepsTheEarliestTimeAndTheHighestPriorityOfEachItem) {
  enum { kAdd, kPop, kClear };
  ExpectHolds([] {
    struct Waiting {
      TimePoint at;
      int added = 0;  // by which call
      int priority = 0;
    };
    const auto heap = Parts::Selected().heap();
    std::map<int, Waiting> model;
    int calls = 0;
    const auto first = [&] {
      return std::min_element(model.begin(), model.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second.at, a.second.added) < std::pair(b.second.at, b.second.added);
      });
    };
    const auto kinds = rc::gen::weightedElement<int>({{60, kAdd}, {35, kPop}, {1, kClear}});
    for (const auto& [kind, key, number] : *Commands(kinds, 40, 12)) {
      if (kind == kAdd) {
        const Waiting added{TimePoint{} + std::chrono::seconds(number), calls++, number % 3};
        const auto [entry, is_new] = model.try_emplace(key, added);
        const bool earlier = is_new || added.at < entry->second.at;
        const int priority = std::max(entry->second.priority, added.priority);
        if (earlier) entry->second = added;
        entry->second.priority = priority;
        const bool is_first = heap->Add(Counted(key), added.at, added.priority);
        RC_ASSERT(is_first == (earlier && first()->first == key));
      } else if (kind == kPop && !model.empty()) {
        const auto popped = heap->PopFront();
        RC_ASSERT(popped.item.id() == first()->first);
        RC_ASSERT(popped.priority == first()->second.priority);
        model.erase(first());
      } else if (kind == kClear) {
        heap->Clear();
        model.clear();
      }
      RC_ASSERT(heap->size() == model.size());
      RC_ASSERT(heap->empty() == model.empty());
      RC_ASSERT(heap->next() == (model.empty() ? TimePoint::max() : first()->second.at));
      std::vector<std::tuple<TimePoint, int, int>> in_order;
      for (const auto& [each, waiting] : model) {
        in_order.emplace_back(waiting.at, waiting.added, each);
      }
      std::sort(in_order.begin(), in_order.end());
      std::size_t visited = 0;
      heap->ForEarliest(3, [&](const Counted& item, TimePoint at, int priority) {
        RC_ASSERT(item.id() == std::get<2>(in_order.at(visited++)));
        RC_ASSERT(at == model[item.id()].at);
        RC_ASSERT(priority == model[item.id()].priority);
      });
      RC_ASSERT(visited == std::min<std::size_t>(3, model.size()));
      RC_ASSERT(Counted::alive == model.size());
    }
  });
}

// FailureCounts and the delays that depend on them

constexpr int kIdle = 10;  // seconds

TEST(FailureCountsModelTest, CountsFailuresSinceTheLastForgetOrExpiry) {
  enum { kIncrement, kForget, kGet, kAdvance };
  ExpectHolds([] {
    struct Count {
      int failures = 0;
      int last = 0;
    };
    kopp::testing::FakeClock clock;
    const auto counts = Parts::Selected().counts(std::chrono::seconds(kIdle), clock);
    std::map<int, Count> model;
    int now = 0;
    const auto kinds =
        rc::gen::weightedElement<int>({{40, kIncrement}, {5, kForget}, {10, kGet}, {20, kAdvance}});
    for (const auto& [kind, key, seconds] : *Commands(kinds, 30, 6)) {
      std::erase_if(model, [&](const auto& each) { return now > each.second.last + kIdle; });
      if (kind == kIncrement) {
        auto& [failures, last] = model[key];
        RC_ASSERT(counts->Increment(Counted(key)) == failures);
        ++failures;
        last = now;
      } else if (kind == kForget) {
        counts->Forget(Counted(key));
        model.erase(key);
      } else if (kind == kAdvance) {
        clock.Advance(std::chrono::seconds(seconds));
        now += seconds;
        continue;
      }
      RC_ASSERT(counts->Get(Counted(key)) == (model.contains(key) ? model[key].failures : 0));
    }
  });
}

TEST(FailureCountsModelTest, IncrementFreesItemsThatAreIdleForTwiceTheTime) {
  ExpectHolds([] {
    kopp::testing::FakeClock clock;
    const auto counts = Parts::Selected().counts(std::chrono::seconds(kIdle), clock);
    std::map<int, int> last;
    int now = 0;
    for (const auto& [kind, key, seconds] : *Commands(rc::gen::just(0), 1000, 6)) {
      clock.Advance(std::chrono::seconds(seconds));
      now += seconds;
      counts->Increment(Counted(key));
      last[key] = now;
      std::erase_if(last, [&](const auto& each) { return now > each.second + 2 * kIdle; });
      RC_ASSERT(Counted::alive <= last.size());
    }
  });
}

__extension__ using Wide = unsigned __int128;

TEST(ExponentialDelayModelTest, TheDelayIsBaseTimesTwoToThePowerOfTheFailuresUpToTheMaximum) {
  ExpectHolds([] {
    const auto base = *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 40);
    const auto longest =
        *rc::gen::inRange<std::int64_t>(1, std::numeric_limits<std::int64_t>::max());
    kopp::testing::FakeClock clock;
    workqueue::ItemExponentialFailureRateLimiter<int> limiter(Duration(base), Duration(longest),
                                                              clock);
    for (int failures = 0; failures < 70; ++failures) {
      const Wide exact = static_cast<Wide>(base) << failures;
      const auto expected = static_cast<std::int64_t>(std::min(exact, static_cast<Wide>(longest)));
      RC_ASSERT(limiter.When(1) == Duration(expected));
      RC_ASSERT(limiter.NumRequeues(1) == failures + 1);
    }
  });
}

}  // namespace
}  // namespace kopp::proof
