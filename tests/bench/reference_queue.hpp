#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

// What client-go's util/workqueue does, written with the containers of the standard library.
// workqueue_ratio.cpp measures kopp's queues against it.
namespace kopp::bench {

/// A queue with the semantics of client-go's Type. Thread-safe.
class ReferenceQueue {
 public:
  void Add(const std::string& item) {
    const std::lock_guard lock{mutex_};
    if (!dirty_.insert(item).second || processing_.contains(item)) return;
    queue_.push_back(item);
    ready_.notify_one();
  }
  std::string Get() {
    std::unique_lock lock{mutex_};
    ready_.wait(lock, [&] { return !queue_.empty(); });
    std::string item = std::move(queue_.front());
    queue_.pop_front();
    processing_.insert(item);
    dirty_.erase(item);
    return item;
  }
  void Done(const std::string& item) {
    const std::lock_guard lock{mutex_};
    processing_.erase(item);
    if (!dirty_.contains(item)) return;
    queue_.push_back(item);
    ready_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::string> queue_;
  std::unordered_set<std::string> dirty_;
  std::unordered_set<std::string> processing_;
};

/// The waiting items of client-go's delayingType: a binary heap, and an index by item. Thread-safe.
class ReferenceDelays {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void AddAfter(const std::string& item, std::chrono::nanoseconds delay) {
    const Time ready_at = std::chrono::steady_clock::now() + delay;
    const std::lock_guard lock{mutex_};
    const auto [entry, is_new] = times_.try_emplace(item, ready_at);
    if (!is_new) return;
    heap_.emplace_back(ready_at, item);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Time, std::string>> heap_;
  std::unordered_map<std::string, Time> times_;
};

/// client-go's ItemExponentialFailureRateLimiter. Thread-safe.
class ReferenceLimiter {
 public:
  std::chrono::nanoseconds When(const std::string& item) {
    const std::lock_guard lock{mutex_};
    const int failures = failures_[item]++;
    return std::chrono::milliseconds(5) * (1 << std::min(failures, 17));
  }
  void Forget(const std::string& item) {
    const std::lock_guard lock{mutex_};
    failures_.erase(item);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, int> failures_;
};

}  // namespace kopp::bench
