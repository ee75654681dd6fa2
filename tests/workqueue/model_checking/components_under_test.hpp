#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/item.hpp>

namespace kopp::model_checking {

/// An item that counts its live instances.
class CountedItem {
 public:
  explicit CountedItem(int id) : id_(id) { ++live_instances; }
  CountedItem(const CountedItem& other) noexcept : id_(other.id_) { ++live_instances; }
  CountedItem& operator=(const CountedItem& other) = default;
  ~CountedItem() { --live_instances; }
  bool operator==(const CountedItem& other) const { return id_ == other.id_; }
  [[nodiscard]] int id() const { return id_; }

  static inline std::size_t live_instances = 0;

 private:
  int id_;
};

}  // namespace kopp::model_checking

template <>
struct std::hash<kopp::model_checking::CountedItem> {
  std::size_t operator()(const kopp::model_checking::CountedItem& item) const {
    return static_cast<std::size_t>(item.id() / 2);  // pairs of items have the same hash
  }
};

namespace kopp::model_checking {

// Interfaces to the components of a queue. The same tests run with the real components and with
// copies that contain a planted bug: see Implementations. Each function calls the component's
// function of the same name.

class Component {
 public:
  virtual ~Component() = default;
  Component(const Component&) = delete;
  Component& operator=(const Component&) = delete;

 protected:
  Component() = default;
};

/// The interface of ItemTable<CountedItem, int>.
class TableUnderTest : public Component {
 public:
  // Equal to workqueue::detail::kNoHandle, which copies with a planted bug define in their own
  // namespaces.
  static constexpr std::uint32_t kNoHandle = (std::uint32_t{1} << 30) - 1;

  virtual std::uint32_t Find(const CountedItem& item, std::uint32_t hash) = 0;
  virtual std::pair<std::uint32_t, bool> Insert(const CountedItem& item, std::uint32_t hash) = 0;
  virtual void Erase(std::uint32_t handle) = 0;
  virtual void Clear() = 0;
  virtual const CountedItem& ItemOf(std::uint32_t handle) = 0;
  virtual int& ValueOf(std::uint32_t handle) = 0;
  virtual void ForEach(const std::function<bool(std::uint32_t)>& visit) = 0;
  virtual std::size_t size() = 0;
};

/// The interface of DelayHeap<CountedItem>.
class HeapUnderTest : public Component {
 public:
  using Visit = std::function<void(const CountedItem& item, TimePoint ready_at, int priority)>;

  virtual bool Add(const CountedItem& item, TimePoint ready_at, int priority) = 0;
  virtual workqueue::QueuedItem<CountedItem> PopFront() = 0;
  virtual void Clear() = 0;
  virtual void ForEarliest(std::size_t limit, const Visit& visit) = 0;
  virtual bool empty() = 0;
  virtual std::size_t size() = 0;
  virtual TimePoint next() = 0;
};

/// The interface of FailureCounts<CountedItem>.
class CountsUnderTest : public Component {
 public:
  virtual int Increment(const CountedItem& item) = 0;
  virtual void Forget(const CountedItem& item) = 0;
  virtual int Get(const CountedItem& item) = 0;
};

/// Functions that create the components of one implementation.
struct ComponentFactories {
  std::unique_ptr<TableUnderTest> (*table)();
  std::unique_ptr<HeapUnderTest> (*heap)();
  std::unique_ptr<CountsUnderTest> (*counts)(Duration idle_timeout, Clock& clock);
};

}  // namespace kopp::model_checking
