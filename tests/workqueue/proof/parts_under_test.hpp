#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/item.hpp>

namespace kopp::proof {

/// An item that counts how many of its kind exist.
class Counted {
 public:
  explicit Counted(int id) : id_(id) { ++alive; }
  Counted(const Counted& other) noexcept : id_(other.id_) { ++alive; }
  Counted& operator=(const Counted& other) = default;
  ~Counted() { --alive; }
  bool operator==(const Counted& other) const { return id_ == other.id_; }
  [[nodiscard]] int id() const { return id_; }

  static inline std::size_t alive = 0;

 private:
  int id_;
};

}  // namespace kopp::proof

template <>
struct std::hash<kopp::proof::Counted> {
  std::size_t operator()(const kopp::proof::Counted& item) const {
    return static_cast<std::size_t>(item.id() / 2);  // pairs of items have the same hash
  }
};

namespace kopp::proof {

// The parts of a queue behind virtual functions that call the functions of the same name: see
// Implementations.

class Part {
 public:
  virtual ~Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

 protected:
  Part() = default;
};

/// An ItemTable<Counted, int>.
class TableUnderTest : public Part {
 public:
  static constexpr std::uint32_t kNoHandle = (std::uint32_t{1} << 30) - 1;

  virtual std::uint32_t Find(const Counted& item, std::uint32_t hash) = 0;
  virtual std::pair<std::uint32_t, bool> Insert(const Counted& item, std::uint32_t hash) = 0;
  virtual void Erase(std::uint32_t handle) = 0;
  virtual void Clear() = 0;
  virtual const Counted& ItemOf(std::uint32_t handle) = 0;
  virtual int& ValueOf(std::uint32_t handle) = 0;
  virtual void ForEach(const std::function<bool(std::uint32_t)>& visit) = 0;
  virtual std::size_t size() = 0;
};

/// A DelayHeap<Counted>.
class HeapUnderTest : public Part {
 public:
  using Visit = std::function<void(const Counted& item, TimePoint at, int priority)>;

  virtual bool Add(const Counted& item, TimePoint at, int priority) = 0;
  virtual workqueue::Prioritized<Counted> PopFront() = 0;
  virtual void Clear() = 0;
  virtual void ForEarliest(std::size_t limit, const Visit& visit) = 0;
  virtual bool empty() = 0;
  virtual std::size_t size() = 0;
  virtual TimePoint next() = 0;
};

/// A FailureCounts<Counted>.
class CountsUnderTest : public Part {
 public:
  virtual int Increment(const Counted& item) = 0;
  virtual void Forget(const Counted& item) = 0;
  virtual int Get(const Counted& item) = 0;
};

struct PartFactories {
  std::unique_ptr<TableUnderTest> (*table)();
  std::unique_ptr<HeapUnderTest> (*heap)();
  std::unique_ptr<CountsUnderTest> (*counts)(Duration idle, Clock& clock);
};

}  // namespace kopp::proof
