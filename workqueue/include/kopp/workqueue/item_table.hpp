#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <kopp/workqueue/item_hash.hpp>

namespace kopp::workqueue {

/// Names a node of an ItemTable, from Insert to Erase. Handles are small and used again, so a
/// vector can hold more about each node. They have 30 bits: two are left for flags beside one.
using Handle = std::uint32_t;
inline constexpr Handle kNoHandle = (Handle{1} << 30) - 1;

/// What is kept of a vector that a rush made large, once it is empty.
inline constexpr std::size_t kKeptCapacity = 1024;

/// Empties `vector`, and gives its memory back if that is much.
template <typename T>
void GiveBack(std::vector<T>& vector) {
  if (vector.capacity() > kKeptCapacity) {
    std::vector<T>().swap(vector);
  } else {
    vector.clear();
  }
}

/// Items, each with a `V` beside it: the one table from which queue, delays and limiters are made.
///
/// Nodes lie in arrays that double and never move; an index of 8 bytes a slot (32 bits of the hash,
/// and the handle) finds them, so that most look-ups touch one slot and one node. What Erase leaves
/// is used again; a table that ran empty gives back what a rush made it take. To grow it moves the
/// whole index.
///
/// Not safe to use from two threads at once; Hash needs no lock.
template <Item T, typename V>
class ItemTable {
 public:
  ItemTable() = default;
  ~ItemTable() { Clear(); }
  ItemTable(const ItemTable&) = delete;
  ItemTable& operator=(const ItemTable&) = delete;

  /// For Find and Insert. `owner` is always the same address: nobody outside knows it, so nobody
  /// can choose strings that collide.
  [[nodiscard]] static std::uint32_t Hash(const T& item, const void* owner) {
    const auto seed = reinterpret_cast<std::uintptr_t>(owner);
    return static_cast<std::uint32_t>(ItemHash<T>{}(item, seed) >> 32);
  }

  /// The item's node, or kNoHandle. `hash` is Hash(item, owner).
  [[nodiscard]] Handle Find(const T& item, std::uint32_t hash) const;

  /// The item's node, made if there is none, and whether it was made, with a value of V{}.
  /// Throws std::length_error beyond 2^30 - 1 items.
  template <typename U>
  std::pair<Handle, bool> Insert(U&& item, std::uint32_t hash);

  void Erase(Handle handle);
  void Clear();

  [[nodiscard]] const T& ItemOf(Handle handle) const { return NodeOf(handle).item; }
  V& operator[](Handle handle) { return NodeOf(handle).value; }
  const V& operator[](Handle handle) const { return NodeOf(handle).value; }
  /// The item itself, before its Erase.
  T&& Release(Handle handle) { return std::move(NodeOf(handle).item); }

  /// Has the processor fetch what a look-up will touch, meanwhile.
  [[gnu::always_inline]] void Expect(std::uint32_t hash) const {  // else g++ 12 drops the call
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }
  /// The same for a node that is here.
  [[gnu::always_inline]] void ExpectNode(Handle handle) const { Expect(NodeOf(handle).hash); }
  /// The same, before ExpectNode.
  [[gnu::always_inline]] void ExpectItem(Handle handle) const {
    __builtin_prefetch(&NodeOf(handle));
  }
  /// The same for one that was made soon after this one: what came in one order mostly goes in it,
  /// such as keys that failed while a server was down.
  [[gnu::always_inline]] void ExpectNext(Handle handle) const {
    constexpr Handle kAhead = 4;  // a look-up takes a quarter of the time that a fetch takes
    if (handle + kAhead < fresh_) ExpectNode(handle + kAhead);
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  /// Calls visit(handle) for each node, in no order, until it answers false. `visit` may erase
  /// none.
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
    Node() {}   // NOLINT(modernize-use-equals-default): Insert makes what it holds
    ~Node() {}  // NOLINT(modernize-use-equals-default): and Erase destroys it
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
  static_assert(std::is_trivially_destructible_v<V>);
  static constexpr std::size_t kFirst = 16;  // nodes of the first array; each next one has twice

  [[nodiscard]] static std::size_t ArrayOf(Handle handle) {
    return static_cast<std::size_t>(std::bit_width(handle + kFirst) - std::bit_width(kFirst));
  }
  [[nodiscard]] Node& NodeOf(Handle handle) const {
    const std::size_t array = ArrayOf(handle);
    return arrays_[array][handle + kFirst - (kFirst << array)];
  }
  [[nodiscard]] std::size_t SlotOf(Handle handle) const;
  Handle Fresh();
  void StartAnew();
  void Grow();

  std::vector<Slot> slots_;  // a power of two, at most three quarters in use
  std::array<std::unique_ptr<Node[]>, 27> arrays_;
  std::size_t size_ = 0;
  Handle fresh_ = 0;  // the first node that was never used
  Handle free_ = kNoHandle;
};

template <Item T, typename V>
Handle ItemTable<T, V>::Find(const T& item, std::uint32_t hash) const {
  if (size_ == 0) return kNoHandle;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.handle == kNoHandle) return kNoHandle;
    if (slot.hash == hash && NodeOf(slot.handle).item == item) return slot.handle;
  }
}

template <Item T, typename V>
template <typename U>
std::pair<Handle, bool> ItemTable<T, V>::Insert(U&& item, std::uint32_t hash) {
  if ((size_ + 1) * 4 > slots_.size() * 3) Grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].handle != kNoHandle; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.hash == hash && NodeOf(slot.handle).item == item) return {slot.handle, false};
  }
  const bool used_before = free_ != kNoHandle;
  const Handle handle = used_before ? free_ : Fresh();
  Node& node = NodeOf(handle);
  std::construct_at(&node.item, std::forward<U>(item));  // may throw: nothing has changed yet
  if (used_before) {
    free_ = node.next_free;
  } else {
    ++fresh_;
  }
  node.hash = hash;
  std::construct_at(&node.value);
  slots_[at] = {hash, handle};
  ++size_;
  return {handle, true};
}

template <Item T, typename V>
void ItemTable<T, V>::Erase(Handle handle) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = SlotOf(handle);
  // those behind move up, where that brings them no nearer than their own place
  for (std::size_t at = (hole + 1) & mask; slots_[at].handle != kNoHandle; at = (at + 1) & mask) {
    const std::size_t away = (at - slots_[at].hash) & mask;
    if (away < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
  Node& node = NodeOf(handle);
  std::destroy_at(&node.item);
  node.next_free = std::exchange(free_, handle);
  if (--size_ == 0) StartAnew();
}

template <Item T, typename V>
void ItemTable<T, V>::Clear() {
  if (size_ == 0) return;
  for (Slot& slot : slots_) {
    if (slot.handle == kNoHandle) continue;
    std::destroy_at(&NodeOf(slot.handle).item);
    slot = {};
  }
  size_ = 0;
  StartAnew();
}

template <Item T, typename V>
void ItemTable<T, V>::StartAnew() {
  fresh_ = 0;
  free_ = kNoHandle;
  if (slots_.size() <= kKeptCapacity) return;
  GiveBack(slots_);
  arrays_ = {};
}

template <Item T, typename V>
std::size_t ItemTable<T, V>::SlotOf(Handle handle) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = NodeOf(handle).hash & mask;
  while (slots_[at].handle != handle) at = (at + 1) & mask;
  return at;
}

template <Item T, typename V>
Handle ItemTable<T, V>::Fresh() {
  if (fresh_ == kNoHandle) throw std::length_error("a queue of kopp holds up to 2^30 - 1 items");
  const std::size_t array = ArrayOf(fresh_);
  if (!arrays_[array]) arrays_[array].reset(new Node[kFirst << array]);
  return fresh_;
}

template <Item T, typename V>
void ItemTable<T, V>::Grow() {
  std::vector<Slot> bigger(slots_.empty() ? kFirst : slots_.size() * 2);
  const std::size_t mask = bigger.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.handle == kNoHandle) continue;
    std::size_t at = slot.hash & mask;
    while (bigger[at].handle != kNoHandle) at = (at + 1) & mask;
    bigger[at] = slot;
  }
  slots_.swap(bigger);
}

}  // namespace kopp::workqueue
