#pragma once

#include <atomic>
#include <cstddef>
#include <unordered_set>

#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// The keys whose last reconcile threw. Thread-safe. Locks nothing while no key fails.
class FailingKeys {
 public:
  void Add(const ObjectKey& key) {
    auto keys = keys_.Lock();
    keys->insert(key);
    size_ = keys->size();
  }
  void Remove(const ObjectKey& key) {
    if (size_ == 0) return;
    auto keys = keys_.Lock();
    keys->erase(key);
    size_ = keys->size();
  }
  void Clear() {
    auto keys = keys_.Lock();
    keys->clear();
    size_ = 0;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::atomic<std::size_t> size_{0};  // of keys_
  detail::Guarded<std::unordered_set<ObjectKey>> keys_;
};

}  // namespace kopp
