#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include <kopp/workqueue/detail/spin_guarded.hpp>

namespace kopp::workqueue::detail {

/// Lets the workers of a queue sleep, and wakes as few of them as the ready items need.
///
/// A worker that finds no item spins for some microseconds before it sleeps. While a worker spins,
/// or has been notified and does not run yet, no other worker is notified: that worker takes an
/// item, and notifies the next worker if more items are ready. So most Adds make no system call.
/// If the operating system does not schedule that worker, items accumulate: therefore one more
/// worker is notified for every 128 items.
///
/// Every member except NotifyOne and NotifyAll must be called with the queue's lock held.
class WorkerWaiter {
 public:
  /// Blocks until `ready()` returns true; calls it with `lock` held, which is the queue's lock.
  template <typename Predicate>
  void Wait(std::unique_lock<std::mutex>& lock, Predicate ready) {
    if (!ready() && !wake_up_pending_) Spin(lock);
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
    if (ready_items == 0) return false;
    // Relaxed, because it only ends the spinning early. The worker reads the queue with the lock
    // held.
    item_added_.store(true, std::memory_order_relaxed);
    const bool enough = wake_up_pending_ && ready_items % kItemsPerWakeUp != 0;
    if (sleepers_ == 0 || enough) return false;
    wake_up_pending_ = true;
    return true;
  }

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  void Spin(std::unique_lock<std::mutex>& lock) {
    constexpr int kSpins = 256;  // some microseconds: shorter than a sleep and a wake-up take
    wake_up_pending_ = true;
    // Relaxed, because StartWakeUp writes it with the lock held, too.
    item_added_.store(false, std::memory_order_relaxed);
    lock.unlock();
    // Relaxed, because a stale value only costs more spins. The lock orders everything else.
    for (int i = 0; i < kSpins && !item_added_.load(std::memory_order_relaxed); ++i) CpuRelax();
    lock.lock();
    wake_up_pending_ = false;
  }

  int sleepers_ = 0;
  bool wake_up_pending_ = false;  // a worker spins, or was notified and did not run since
  std::atomic<bool> item_added_ = false;
  std::condition_variable condition_;
};

}  // namespace kopp::workqueue::detail
