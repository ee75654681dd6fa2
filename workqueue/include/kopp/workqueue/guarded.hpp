#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

namespace kopp {

/// Tells the processor that this thread spins until another thread writes to memory.
inline void CpuRelax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A value with a mutex. Lock() is the only access to the value.
///
/// The type of the value documents what the lock protects. Hold one lock at a time, for a short
/// time, and call no user code while you hold it.
template <typename T>
class Guarded {
 public:
  /// Access to the value. Holds the lock until it is destroyed.
  class [[nodiscard]] Locked {
   public:
    T* operator->() { return value_; }
    T& operator*() { return *value_; }

    /// Blocks until `ready()` returns true, without the lock while it waits. A thread that makes
    /// it true must notify `cv`.
    template <typename Predicate>
    void Wait(std::condition_variable& cv, Predicate ready) {
      cv.wait(lock_, std::move(ready));
    }

    /// For Clock::WaitUntil, and to release the lock early. Do not access the value while the lock
    /// is released.
    std::unique_lock<std::mutex>& lock() { return lock_; }

   private:
    friend class Guarded;
    // Spins before it blocks, because another thread usually releases the lock in less time than a
    // sleep takes. Each pause is longer than the previous pause, so that the holder of the lock can
    // continue with warm caches.
    Locked(std::mutex& mutex, T& value) : lock_(mutex, std::try_to_lock), value_(&value) {
      if (!lock_.owns_lock()) SpinThenLock();
    }
    void SpinThenLock() {
      for (int spins = 4; spins <= kMaxSpins; spins *= 2) {
        for (int i = 0; i < spins; ++i) CpuRelax();
        if (lock_.try_lock()) return;
      }
      lock_.lock();
    }
    static constexpr int kMaxSpins = 1024;

    std::unique_lock<std::mutex> lock_;
    T* value_;
  };

  template <typename... Args>
  explicit Guarded(Args&&... args) : value_{std::forward<Args>(args)...} {}

  /// Blocks until no other thread holds the lock, and acquires it.
  Locked Lock() { return {mutex_, value_}; }

 private:
  std::mutex mutex_;
  T value_;
};

}  // namespace kopp
