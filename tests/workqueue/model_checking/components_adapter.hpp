#pragma once

#include "components_under_test.hpp"
#include "implementations.hpp"

#include <kopp/workqueue/detail/delay_heap.hpp>
#include <kopp/workqueue/detail/failure_counts.hpp>
#include <kopp/workqueue/detail/item_table.hpp>

namespace kopp::model_checking {

template <typename Table>
class TableAdapter final : public TableUnderTest {
 public:
  std::uint32_t Find(const CountedItem& item, std::uint32_t hash) override {
    return table_.Find(item, hash);
  }
  std::pair<std::uint32_t, bool> Insert(const CountedItem& item, std::uint32_t hash) override {
    return table_.Insert(item, hash);
  }
  void Erase(std::uint32_t handle) override { table_.Erase(handle); }
  void Clear() override { table_.Clear(); }
  const CountedItem& ItemOf(std::uint32_t handle) override { return table_.ItemOf(handle); }
  int& ValueOf(std::uint32_t handle) override { return table_[handle]; }
  void ForEach(const std::function<bool(std::uint32_t)>& visit) override { table_.ForEach(visit); }
  std::size_t size() override { return table_.size(); }

 private:
  Table table_;
};

template <typename Heap>
class HeapAdapter final : public HeapUnderTest {
 public:
  bool Add(const CountedItem& item, TimePoint ready_at, int priority) override {
    return heap_.Add(item, Heap::Hash(item, this), ready_at, priority);
  }
  workqueue::QueuedItem<CountedItem> PopFront() override { return heap_.PopFront(); }
  void Clear() override { heap_.Clear(); }
  void ForEarliest(std::size_t limit, const Visit& visit) override {
    heap_.ForEarliest(limit, [&](const CountedItem& item, TimePoint ready_at, int priority,
                                 const auto&) { visit(item, ready_at, priority); });
  }
  bool empty() override { return heap_.empty(); }
  std::size_t size() override { return heap_.size(); }
  TimePoint next() override { return heap_.next(); }

 private:
  Heap heap_;
};

template <typename Counts>
class CountsAdapter final : public CountsUnderTest {
 public:
  CountsAdapter(Duration idle_timeout, Clock& clock) : counts_(idle_timeout, clock) {}
  int Increment(const CountedItem& item) override { return counts_.Increment(item); }
  void Forget(const CountedItem& item) override { counts_.Forget(item); }
  int Get(const CountedItem& item) override { return counts_.Get(item); }

 private:
  Counts counts_;
};

template <typename Table, typename Heap, typename Counts>
constexpr ComponentFactories MakeComponentFactories() {
  return {.table = []() -> std::unique_ptr<TableUnderTest> {
            return std::make_unique<TableAdapter<Table>>();
          },
          .heap = []() -> std::unique_ptr<HeapUnderTest> {
            return std::make_unique<HeapAdapter<Heap>>();
          },
          .counts = [](Duration idle_timeout, Clock& clock) -> std::unique_ptr<CountsUnderTest> {
            return std::make_unique<CountsAdapter<Counts>>(idle_timeout, clock);
          }};
}

/// Registers the copy of the components in the namespace kopp::workqueue::bug: see
/// planted/plant.cmake.
#define KOPP_REGISTER_COPY(bug)                                                         \
  const Implementations<ComponentFactories> bug(                                        \
      #bug, MakeComponentFactories<workqueue::bug::detail::ItemTable<CountedItem, int>, \
                                   workqueue::bug::detail::DelayHeap<CountedItem>,      \
                                   workqueue::bug::detail::FailureCounts<CountedItem>>())

}  // namespace kopp::model_checking
