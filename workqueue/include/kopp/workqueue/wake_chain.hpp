#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include <kopp/workqueue/guarded.hpp>

namespace kopp::workqueue {

/// Has the workers of a queue sleep, and wakes as few of them as there is work for.
///
/// A worker that finds nothing looks out for a moment, then sleeps. While one looks out, or was
/// woken and is on its way, nobody else is woken: it takes an item, and wakes the next if there is
/// more. So most Adds make no system call. Lest much piles up behind one whose processor is taken
/// away, each 128th item wakes another all the same.
///
/// All members but Notify and NotifyAll are called with the queue's lock held.
class WakeChain {
 public:
  /// Blocks until `due()`, looked at with `lock` held: the queue's.
  template <typename Due>
  void Await(std::unique_lock<std::mutex>& lock, Due due) {
    if (!due() && !looking_) LookOut(lock);
    while (!due()) {
      ++sleepers_;
      ready_.wait(lock);
      --sleepers_;
      looking_ = false;
    }
  }

  /// Whoever made an item ready or took one asks this, and notifies after unlocking where it says
  /// so. `ready`: how many items are ready now.
  [[nodiscard]] bool WakeNext(std::size_t ready) {
    constexpr std::size_t kPile = 128;
    if (ready == 0) return false;
    seen_.store(true, std::memory_order_relaxed);
    if (sleepers_ == 0 || (looking_ && ready % kPile != 0)) return false;
    looking_ = true;
    return true;
  }

  void Notify() { ready_.notify_one(); }
  void NotifyAll() { ready_.notify_all(); }

 private:
  void LookOut(std::unique_lock<std::mutex>& lock) {
    constexpr int kLooks = 256;  // some microseconds: less than it costs to sleep and be woken
    looking_ = true;
    seen_.store(false, std::memory_order_relaxed);
    lock.unlock();
    for (int i = 0; i < kLooks && !seen_.load(std::memory_order_relaxed); ++i) Pause();
    lock.lock();
    looking_ = false;
  }

  int sleepers_ = 0;
  bool looking_ = false;            // one looks out, or was woken and is on its way
  std::atomic<bool> seen_ = false;  // something was added since it began to
  std::condition_variable ready_;
};

}  // namespace kopp::workqueue
