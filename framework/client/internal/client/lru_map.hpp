#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>
#include <utility>

namespace kopp {

/// A map with at most `capacity` entries. Inserting into a full map removes the least recently used
/// entry. Not thread-safe.
template <typename Key, typename Value>
class LruMap {
 public:
  explicit LruMap(std::size_t capacity) : capacity_(capacity) {}

  /// Returns the value of `key`, or null if there is none. The pointer is valid until the next
  /// call.
  Value* Find(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &entries_.front().second;
  }

  /// Returns the value of `key`. If there is none, inserts the result of `make()`. The reference is
  /// valid until the next call.
  template <typename Make>
  Value& GetOr(const Key& key, Make make) {
    if (Value* known = Find(key)) return *known;
    if (index_.size() == capacity_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(key, make());
    index_.emplace(key, entries_.begin());
    return entries_.front().second;
  }

  /// Removes the entries for which `predicate(value)` returns true. It may change the value.
  template <typename Predicate>
  void EraseIf(Predicate predicate) {
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto current = entry++;
      if (!predicate(current->second)) continue;
      index_.erase(current->first);
      entries_.erase(current);
    }
  }

  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  using Entries = std::list<std::pair<const Key, Value>>;
  std::size_t capacity_;
  Entries entries_;  // most recently used first
  std::unordered_map<Key, typename Entries::iterator> index_;
};

}  // namespace kopp
