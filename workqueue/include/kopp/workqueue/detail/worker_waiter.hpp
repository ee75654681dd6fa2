#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace kopp::workqueue::detail {

/// Lets the workers of a queue sleep, and wakes as few of them as the ready items need.
///
/// While a worker has been notified and does not run yet, no other worker is notified: that worker
/// takes an item, and notifies the next worker if more items are ready. So Adds that follow each
/// other closely make no system call. If the operating system does not schedule that worker, items
/// accumulate: therefore one more worker is notified when their number is a multiple of 128.
///
/// Every member except NotifyOne and NotifyAll must be called with the queue's lock held.
class WorkerWaiter {
 public:
  /// Blocks until `ready()` returns true; calls it with `lock` held, which is the queue's lock.
  template <typename Predicate>
  void Wait(std::unique_lock<std::mutex>& lock, Predicate ready) {
    while (!ready()) {
      ++sleepers_;
      condition_.wait(lock);
      --sleepers_;
      wake_up_pending_ = false;
    }
  }

  /// Decides whether to wake another worker. Call it after an item became ready, and after a worker
  /// took an item. If it returns true, the caller must call NotifyOne after it has released the
  /// lock.
  [[nodiscard]] bool StartWakeUp(std::size_t ready_items) {
    constexpr std::size_t kItemsPerWakeUp = 128;
    const bool enough = wake_up_pending_ && ready_items % kItemsPerWakeUp != 0;
    if (ready_items == 0 || sleepers_ == 0 || enough) return false;
    wake_up_pending_ = true;
    return true;
  }

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  int sleepers_ = 0;
  bool wake_up_pending_ = false;  // a worker was notified and did not run since
  std::condition_variable condition_;
};

}  // namespace kopp::workqueue::detail
