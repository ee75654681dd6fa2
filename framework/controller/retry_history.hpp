#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// The number of retries and the last error of each object whose reconcile is retried. Thread-safe;
/// calls for one key must not be concurrent. Locks nothing while no object is retried.
class RetryHistory {
 public:
  struct Entry {
    int retries = 0;
    std::string last_error = {};
  };

  /// Returns an empty entry if the object is not retried.
  [[nodiscard]] Entry Find(const ObjectKey& key) {
    if (size_ == 0) return {};
    auto entries = entries_.Lock();
    const auto found = entries->find(key);
    return found == entries->end() ? Entry{} : found->second;
  }
  /// Adds a retry because of `error`, which is empty if there was none.
  void AddRetry(const ObjectKey& key, std::string error) {
    auto entries = entries_.Lock();
    Entry& entry = (*entries)[key];
    ++entry.retries;
    entry.last_error = std::move(error);
    size_ = entries->size();
  }
  void Forget(const ObjectKey& key) {
    if (size_ == 0) return;
    auto entries = entries_.Lock();
    entries->erase(key);
    size_ = entries->size();
  }

 private:
  std::atomic<std::size_t> size_{0};  // of entries_
  detail::Guarded<std::unordered_map<ObjectKey, Entry>> entries_;
};

}  // namespace kopp
