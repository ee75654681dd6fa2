#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

namespace kopp {

/// Tells the processor that this thread waits for another one's store.
inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A value that can be reached only with its mutex held: Lock() is the one way in.
///
/// The value's type says what the lock protects. Hold one lock at a time, for a short time, and
/// call no user code under it.
template <typename T>
class Guarded {
 public:
  /// The value, with the lock held for as long as this lives.
  class [[nodiscard]] Locked {
   public:
    T* operator->() { return value_; }
    T& operator*() { return *value_; }

    /// Releases the lock until `ready()` holds. `cv` is notified by whoever makes it hold.
    template <typename Predicate>
    void Wait(std::condition_variable& cv, Predicate ready) {
      cv.wait(lock_, std::move(ready));
    }

    /// For Clock::WaitUntil and for letting go early; the value is out of bounds while unlocked.
    std::unique_lock<std::mutex>& lock() { return lock_; }

   private:
    friend class Guarded;
    // A lock held by another thread is mostly free again sooner than a sleep would take. The pauses
    // get longer, so that the holder can use its warm caches for some more.
    Locked(std::mutex& mutex, T& value) : lock_(mutex, std::try_to_lock), value_(&value) {
      if (!lock_.owns_lock()) AwaitLock();
    }
    void AwaitLock() {
      for (int pauses = 4; pauses <= kPauses; pauses *= 2) {
        for (int i = 0; i < pauses; ++i) Pause();
        if (lock_.try_lock()) return;
      }
      lock_.lock();
    }
    static constexpr int kPauses = 1024;

    std::unique_lock<std::mutex> lock_;
    T* value_;
  };

  template <typename... Args>
  explicit Guarded(Args&&... args) : value_{std::forward<Args>(args)...} {}

  Locked Lock() { return {mutex_, value_}; }

 private:
  std::mutex mutex_;
  T value_;
};

}  // namespace kopp
