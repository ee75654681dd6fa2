#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>
#include <utility>

namespace kopp {

/// A map of at most `capacity` entries; the one that was not used for the longest time makes room.
/// Used by one thread.
template <typename Key, typename Value>
class LruMap {
 public:
  explicit LruMap(std::size_t capacity) : capacity_(capacity) {}

  /// The value of `key`: the one that is there, or what `make()` gives.
  template <typename Make>
  Value& GetOr(const Key& key, Make make) {
    const auto found = index_.find(key);
    if (found != index_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return entries_.front().second;
    }
    if (index_.size() == capacity_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(key, make());
    index_.emplace(key, entries_.begin());
    return entries_.front().second;
  }

 private:
  using Entries = std::list<std::pair<const Key, Value>>;
  std::size_t capacity_;
  Entries entries_;  // the last used first
  std::unordered_map<Key, typename Entries::iterator> index_;
};

}  // namespace kopp
