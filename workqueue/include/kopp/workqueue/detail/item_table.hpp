#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <kopp/workqueue/item_hash.hpp>

namespace kopp::workqueue::detail {

/// Identifies a node of an ItemTable from Insert to Erase. Handles are small and reused, so they
/// can index a vector. They have 30 bits, which leaves two bits of a word for flags.
using Handle = std::uint32_t;
inline constexpr Handle kNoHandle = (Handle{1} << 30) - 1;

/// A container with at most this capacity keeps its memory when it becomes empty.
inline constexpr std::size_t kRetainedCapacity = 1024;

/// Clears `vector`, and frees its memory if it has a large capacity.
template <typename T>
void ClearAndShrink(std::vector<T>& vector) {
  if (vector.capacity() > kRetainedCapacity) {
    std::vector<T>().swap(vector);
  } else {
    vector.clear();
  }
}

/// A hash map from items to values of type `V`. The queue, the delays and the rate limiters use it.
///
/// Nodes are stored in arrays of doubling size and never move. An open-addressing index of 8-byte
/// slots (32 bits of the hash, and the handle) finds them, so most look-ups touch one slot and one
/// node. Erased nodes are reused. A table that becomes empty frees its memory if it is large. To
/// grow, it copies the whole index.
///
/// Not thread-safe, except Hash.
template <Item T, typename V>
class ItemTable {
 public:
  ItemTable() = default;
  ~ItemTable() { Clear(); }
  ItemTable(const ItemTable&) = delete;
  ItemTable& operator=(const ItemTable&) = delete;

  /// Returns the hash for Find and Insert. `owner` must be the same address in each call. It is the
  /// seed, which prevents hash-flooding attacks.
  [[nodiscard]] static std::uint32_t Hash(const T& item, const void* owner) {
    const auto seed = reinterpret_cast<std::uintptr_t>(owner);
    return static_cast<std::uint32_t>(ItemHash<T>{}(item, seed) >> 32);
  }

  /// Returns the node of the item, or kNoHandle. `hash` is Hash(item, owner).
  [[nodiscard]] Handle Find(const T& item, std::uint32_t hash) const;

  /// Returns the node of the item, and whether this call has created it, with the value V{}.
  /// Throws std::length_error if the table has 2^30 - 1 items.
  template <typename U>
  std::pair<Handle, bool> Insert(U&& item, std::uint32_t hash) {
    const Handle found = Find(item, hash);
    if (found != kNoHandle) return {found, false};
    return {InsertNew(std::forward<U>(item), hash), true};
  }

  /// Removes a node and destroys its item and value. `handle` becomes invalid.
  void Erase(Handle handle);
  /// Removes all nodes.
  void Clear();

  [[nodiscard]] const T& ItemOf(Handle handle) const { return NodeOf(handle).item; }
  V& operator[](Handle handle) { return NodeOf(handle).value; }
  const V& operator[](Handle handle) const { return NodeOf(handle).value; }
  /// Moves the item out of its node. The next call for this node must be Erase.
  T&& MoveOut(Handle handle) { return std::move(NodeOf(handle).item); }

  // Hints for calls that follow soon: they load memory into the cache. Without always_inline, g++ 12
  // removes the calls.

  /// Before Find or Insert with this hash.
  [[gnu::always_inline]] void PrefetchSlot(std::uint32_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }
  /// Before Find or Erase of this node.
  [[gnu::always_inline]] void PrefetchSlotOf(Handle handle) const {
    PrefetchSlot(NodeOf(handle).hash);
  }
  /// Before PrefetchSlotOf, or another access to this node.
  [[gnu::always_inline]] void PrefetchNode(Handle handle) const {
    __builtin_prefetch(&NodeOf(handle));
  }
  /// Before Erase of the nodes that were inserted after this one.
  [[gnu::always_inline]] void PrefetchSlotAfter(Handle handle) const {
    constexpr Handle kDistance = 4;  // loading a slot takes about as long as four erasures
    if (handle + kDistance < first_unused_) PrefetchSlotOf(handle + kDistance);
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  /// Calls visit(handle) for each node, in no particular order, until it returns false. `visit`
  /// must not erase nodes.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.handle != kNoHandle && !visit(slot.handle)) return;
    }
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    Handle handle = kNoHandle;
  };
  struct Node {
    Node() {}   // NOLINT(modernize-use-equals-default): Insert constructs the members
    ~Node() {}  // NOLINT(modernize-use-equals-default): Erase destroys them
    union {
      T item;
    };
    union {
      V value;
    };
    union {
      std::uint32_t hash;
      Handle next_free;
    };
  };
  static constexpr std::size_t kFirstArraySize = 16;  // each further array is twice as large

  [[nodiscard]] static std::size_t ArrayOf(Handle handle) {
    return static_cast<std::size_t>(std::bit_width(handle + kFirstArraySize) -
                                    std::bit_width(kFirstArraySize));
  }
  [[nodiscard]] Node& NodeOf(Handle handle) const {
    const std::size_t array = ArrayOf(handle);
    return arrays_[array][handle + kFirstArraySize - (kFirstArraySize << array)];
  }
  [[nodiscard]] std::size_t SlotOf(Handle handle) const;
  /// Returns the first empty slot of `slots` at or behind the preferred slot of `hash`.
  [[nodiscard]] static std::size_t EmptySlot(const std::vector<Slot>& slots, std::uint32_t hash) {
    const std::size_t mask = slots.size() - 1;
    std::size_t index = hash & mask;
    while (slots[index].handle != kNoHandle) index = (index + 1) & mask;
    return index;
  }
  /// Requires: the table does not have `item`.
  template <typename U>
  Handle InsertNew(U&& item, std::uint32_t hash);
  Handle AllocateNode();
  void ReleaseMemory();
  void Grow();

  std::vector<Slot> slots_;  // the index; its size is a power of two, its load at most 3/4
  std::size_t size_ = 0;
  Handle first_unused_ = 0;       // the first node that was never used
  Handle free_list_ = kNoHandle;  // the first erased node
  std::array<std::unique_ptr<Node[]>, 27> arrays_;
};

template <Item T, typename V>
Handle ItemTable<T, V>::Find(const T& item, std::uint32_t hash) const {
  if (size_ == 0) return kNoHandle;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t index = hash & mask;; index = (index + 1) & mask) {
    const Slot& slot = slots_[index];
    if (slot.handle == kNoHandle) return kNoHandle;
    if (slot.hash == hash && NodeOf(slot.handle).item == item) return slot.handle;
  }
}

template <Item T, typename V>
template <typename U>
Handle ItemTable<T, V>::InsertNew(U&& item, std::uint32_t hash) {
  if ((size_ + 1) * 4 > slots_.size() * 3) Grow();
  const bool reuse = free_list_ != kNoHandle;
  const Handle handle = reuse ? free_list_ : AllocateNode();
  Node& node = NodeOf(handle);
  std::construct_at(&node.item, std::forward<U>(item));  // may throw; no item has changed yet
  if (reuse) {
    free_list_ = node.next_free;
  } else {
    ++first_unused_;
  }
  node.hash = hash;
  std::construct_at(&node.value);
  slots_[EmptySlot(slots_, hash)] = {hash, handle};
  ++size_;
  return handle;
}

template <Item T, typename V>
void ItemTable<T, V>::Erase(Handle handle) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = SlotOf(handle);
  // Close the gap: move up each following slot that may be stored at the gap.
  for (std::size_t index = (hole + 1) & mask; slots_[index].handle != kNoHandle;
       index = (index + 1) & mask) {
    const std::size_t distance = (index - slots_[index].hash) & mask;  // from its preferred slot
    if (distance < ((index - hole) & mask)) continue;
    slots_[hole] = slots_[index];
    hole = index;
  }
  slots_[hole] = {};
  Node& node = NodeOf(handle);
  std::destroy_at(&node.item);
  std::destroy_at(&node.value);
  node.next_free = std::exchange(free_list_, handle);
  if (--size_ == 0) ReleaseMemory();
}

template <Item T, typename V>
void ItemTable<T, V>::Clear() {
  if (size_ == 0) return;
  for (Slot& slot : slots_) {
    if (slot.handle == kNoHandle) continue;
    Node& node = NodeOf(slot.handle);
    std::destroy_at(&node.item);
    std::destroy_at(&node.value);
    slot = {};
  }
  size_ = 0;
  ReleaseMemory();
}

template <Item T, typename V>
void ItemTable<T, V>::ReleaseMemory() {
  first_unused_ = 0;
  free_list_ = kNoHandle;
  if (slots_.size() <= kRetainedCapacity) return;
  ClearAndShrink(slots_);
  arrays_ = {};
}

template <Item T, typename V>
std::size_t ItemTable<T, V>::SlotOf(Handle handle) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t index = NodeOf(handle).hash & mask;
  while (slots_[index].handle != handle) index = (index + 1) & mask;
  return index;
}

template <Item T, typename V>
Handle ItemTable<T, V>::AllocateNode() {
  if (first_unused_ == kNoHandle) {
    throw std::length_error("kopp::workqueue: a queue holds at most 2^30 - 1 items");
  }
  const std::size_t array = ArrayOf(first_unused_);
  if (!arrays_[array]) arrays_[array].reset(new Node[kFirstArraySize << array]);
  return first_unused_;
}

template <Item T, typename V>
void ItemTable<T, V>::Grow() {
  std::vector<Slot> bigger(slots_.empty() ? kFirstArraySize : slots_.size() * 2);
  for (const Slot& slot : slots_) {
    if (slot.handle == kNoHandle) continue;
    bigger[EmptySlot(bigger, slot.hash)] = slot;
  }
  slots_.swap(bigger);
}

}  // namespace kopp::workqueue::detail
