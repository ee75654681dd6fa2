#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// The keys that are retried, and those whose last reconcile threw. Thread-safe; changes of one key
/// must not be concurrent. Locks nothing while there are none.
class FailingKeys {
 public:
  struct Entry {
    int retries = 0;              ///< see Context::retries
    std::string last_error = {};  ///< see Context::last_error
    bool threw = false;           ///< the last reconcile threw
  };

  /// Returns an empty entry if there is none.
  [[nodiscard]] Entry Find(const ObjectKey& key) {
    if (size_ == 0) return {};
    auto entries = entries_.Lock();
    const auto found = entries->find(key);
    return found == entries->end() ? Entry{} : found->second;
  }
  void Set(const ObjectKey& key, Entry entry) {
    auto entries = entries_.Lock();
    Entry& known = (*entries)[key];
    threw_ += static_cast<std::size_t>(entry.threw) - static_cast<std::size_t>(known.threw);
    known = std::move(entry);
    size_ = entries->size();
  }
  void Erase(const ObjectKey& key) {
    if (size_ == 0) return;
    auto entries = entries_.Lock();
    const auto found = entries->find(key);
    if (found == entries->end()) return;
    threw_ -= static_cast<std::size_t>(found->second.threw);
    entries->erase(found);
    size_ = entries->size();
  }
  /// Forgets which reconciles threw, but not the retries.
  void ForgetErrors() {
    auto entries = entries_.Lock();
    for (auto& [key, entry] : *entries) entry.threw = false;
    std::erase_if(*entries, [](const auto& each) { return each.second.retries == 0; });
    threw_ = 0;
    size_ = entries->size();
  }
  /// Returns the keys that are retried because their last reconcile threw.
  [[nodiscard]] std::vector<ObjectKey> RetriedAfterError() {
    std::vector<ObjectKey> keys;
    auto entries = entries_.Lock();
    for (const auto& [key, entry] : *entries) {
      if (entry.threw && entry.retries > 0) keys.push_back(key);
    }
    return keys;
  }
  /// Returns the number of keys whose last reconcile threw.
  [[nodiscard]] std::size_t NumThrew() const { return threw_; }

 private:
  std::atomic<std::size_t> size_{0};   // of entries_
  std::atomic<std::size_t> threw_{0};  // entries that threw
  detail::Guarded<std::unordered_map<ObjectKey, Entry>> entries_;
};

}  // namespace kopp
