// Compares the components of the queues with simple models. Both get the same calls.
#include "components_adapter.hpp"
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

namespace kopp::model_checking {

namespace {

using Handle = std::uint32_t;
constexpr Handle kNoHandle = TableUnderTest::kNoHandle;
using Components = Implementations<ComponentFactories>;

const Components real_components(
    "", MakeComponentFactories<workqueue::detail::ItemTable<CountedItem, int>,
                               workqueue::detail::DelayHeap<CountedItem>,
                               workqueue::detail::FailureCounts<CountedItem>>());

struct Command {
  int operation = 0;
  int id = 0;  // the id of the item
  int number = 0;

  friend std::ostream& operator<<(std::ostream& out, const Command& command) {
    return out << "(operation " << command.operation << ", item " << command.id << ", number "
               << command.number << ")";
  }
};

rc::Gen<std::vector<Command>> Commands(const rc::Gen<int>& operation, int ids, int numbers) {
  return rc::gen::scale(4.0, rc::gen::container<std::vector<Command>>(rc::gen::build<Command>(
                                 rc::gen::set(&Command::operation, operation),
                                 rc::gen::set(&Command::id, rc::gen::inRange(0, ids)),
                                 rc::gen::set(&Command::number, rc::gen::inRange(0, numbers)))));
}

// ItemTable

/// Returns hashes that include equal hashes, adjacent hashes and hashes at the end of the index.
std::uint32_t HashOf(int id) {
  constexpr std::uint32_t kHashes[] = {14, 15, 0, 30, 0xFFFF'FFFF, 1, 15, 0xFFFF'FFF0};
  return kHashes[static_cast<std::size_t>(id) % std::size(kHashes)];
}

TEST(ItemTableModelTest, BehavesLikeAMapAndDestroysErasedItems) {
  enum { kInsert, kErase, kClear };
  ExpectHolds([] {
    const auto table = Components::Selected().table();
    std::map<int, int> model;
    const auto operations =
        rc::gen::weightedElement<int>({{60, kInsert}, {40, kErase}, {1, kClear}});
    for (const auto& [operation, id, number] : *Commands(operations, 24, 1000)) {
      const Handle found = table->Find(CountedItem(id), HashOf(id));
      RC_ASSERT((found != kNoHandle) == model.contains(id));
      if (operation == kInsert) {
        const auto [handle, is_new] = table->Insert(CountedItem(id), HashOf(id));
        RC_ASSERT(is_new == !model.contains(id));
        RC_ASSERT(!is_new || table->ValueOf(handle) == 0);
        table->ValueOf(handle) = model[id] = number;
      } else if (operation == kErase && found != kNoHandle) {
        table->Erase(found);
        model.erase(id);
      } else if (operation == kClear) {
        table->Clear();
        model.clear();
      }
      for (const auto& [each, value] : model) {
        const Handle handle = table->Find(CountedItem(each), HashOf(each));
        RC_ASSERT(handle != kNoHandle);
        RC_ASSERT(table->ItemOf(handle).id() == each);
        RC_ASSERT(table->ValueOf(handle) == value);
      }
      std::size_t visited = 0;
      table->ForEach([&](Handle) { return ++visited > 0; });
      RC_ASSERT(visited == model.size());
      RC_ASSERT(table->size() == model.size());
      RC_ASSERT(CountedItem::live_instances == model.size());
    }
  });
}

// DelayHeap

TEST(DelayHeapModelTest, KeepsTheEarliestTimeAndTheHighestPriorityOfEachItem) {
  enum { kAdd, kPop, kClear };
  ExpectHolds([] {
    struct Waiting {
      TimePoint ready_at;
      int call = 0;  // the number of the Add call
      int priority = 0;
    };
    const auto heap = Components::Selected().heap();
    std::map<int, Waiting> model;
    int calls = 0;
    const auto first = [&] {
      return std::min_element(model.begin(), model.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second.ready_at, a.second.call) <
               std::pair(b.second.ready_at, b.second.call);
      });
    };
    const auto operations = rc::gen::weightedElement<int>({{60, kAdd}, {35, kPop}, {1, kClear}});
    for (const auto& [operation, id, number] : *Commands(operations, 40, 12)) {
      if (operation == kAdd) {
        const Waiting added{TimePoint{} + std::chrono::seconds(number), calls++, number % 3};
        const auto [entry, is_new] = model.try_emplace(id, added);
        const bool earlier = is_new || added.ready_at < entry->second.ready_at;
        const int priority = std::max(entry->second.priority, added.priority);
        if (earlier) entry->second = added;
        entry->second.priority = priority;
        const bool is_first = heap->Add(CountedItem(id), added.ready_at, added.priority);
        RC_ASSERT(is_first == (earlier && first()->first == id));
      } else if (operation == kPop && !model.empty()) {
        const auto popped = heap->PopFront();
        RC_ASSERT(popped.item.id() == first()->first);
        RC_ASSERT(popped.priority == first()->second.priority);
        model.erase(first());
      } else if (operation == kClear) {
        heap->Clear();
        model.clear();
      }
      RC_ASSERT(heap->size() == model.size());
      RC_ASSERT(heap->empty() == model.empty());
      RC_ASSERT(heap->next() == (model.empty() ? TimePoint::max() : first()->second.ready_at));
      std::vector<std::tuple<TimePoint, int, int>> in_order;
      for (const auto& [each, waiting] : model) {
        in_order.emplace_back(waiting.ready_at, waiting.call, each);
      }
      std::sort(in_order.begin(), in_order.end());
      std::size_t visited = 0;
      heap->ForEarliest(3, [&](const CountedItem& item, TimePoint ready_at, int priority) {
        RC_ASSERT(item.id() == std::get<2>(in_order.at(visited++)));
        RC_ASSERT(ready_at == model[item.id()].ready_at);
        RC_ASSERT(priority == model[item.id()].priority);
      });
      RC_ASSERT(visited == std::min<std::size_t>(3, model.size()));
      RC_ASSERT(CountedItem::live_instances == model.size());
    }
  });
}

// FailureCounts and the delays that depend on them

constexpr int kIdleTimeout = 10;  // in seconds

TEST(FailureCountsModelTest, CountsFailuresSinceTheLastForgetOrExpiry) {
  enum { kIncrement, kForget, kGet, kAdvance };
  ExpectHolds([] {
    struct Failures {
      int count = 0;
      int last_time = 0;
    };
    kopp::testing::FakeClock clock;
    const auto counts = Components::Selected().counts(std::chrono::seconds(kIdleTimeout), clock);
    std::map<int, Failures> model;
    int now = 0;
    const auto operations =
        rc::gen::weightedElement<int>({{40, kIncrement}, {5, kForget}, {10, kGet}, {20, kAdvance}});
    for (const auto& [operation, id, seconds] : *Commands(operations, 30, 6)) {
      std::erase_if(model,
                    [&](const auto& each) { return now > each.second.last_time + kIdleTimeout; });
      if (operation == kIncrement) {
        auto& [count, last_time] = model[id];
        RC_ASSERT(counts->Increment(CountedItem(id)) == count);
        ++count;
        last_time = now;
      } else if (operation == kForget) {
        counts->Forget(CountedItem(id));
        model.erase(id);
      } else if (operation == kAdvance) {
        clock.Advance(std::chrono::seconds(seconds));
        now += seconds;
        continue;
      }
      RC_ASSERT(counts->Get(CountedItem(id)) == (model.contains(id) ? model[id].count : 0));
    }
  });
}

TEST(FailureCountsModelTest, IncrementFreesItemsThatAreIdleForTwiceTheTime) {
  ExpectHolds([] {
    kopp::testing::FakeClock clock;
    const auto counts = Components::Selected().counts(std::chrono::seconds(kIdleTimeout), clock);
    std::map<int, int> last_times;
    int now = 0;
    for (const auto& [operation, id, seconds] : *Commands(rc::gen::just(0), 1000, 6)) {
      clock.Advance(std::chrono::seconds(seconds));
      now += seconds;
      counts->Increment(CountedItem(id));
      last_times[id] = now;
      std::erase_if(last_times,
                    [&](const auto& each) { return now > each.second + 2 * kIdleTimeout; });
      RC_ASSERT(CountedItem::live_instances <= last_times.size());
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
}  // namespace kopp::model_checking
