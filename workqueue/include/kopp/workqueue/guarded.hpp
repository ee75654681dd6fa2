#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

namespace kopp::detail {

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
    Locked(std::unique_lock<std::mutex> lock, T& value) : lock_(std::move(lock)), value_(&value) {}

    std::unique_lock<std::mutex> lock_;
    T* value_;
  };

  template <typename... Args>
  explicit Guarded(Args&&... args) : value_{std::forward<Args>(args)...} {}

  /// Blocks until no other thread holds the lock, and acquires it.
  Locked Lock() { return {std::unique_lock(mutex_), value_}; }

 protected:
  /// Calls `acquire(mutex)`, which returns a std::unique_lock that holds the mutex.
  template <typename Acquire>
  Locked LockWith(Acquire acquire) {
    return {acquire(mutex_), value_};
  }

 private:
  std::mutex mutex_;
  T value_;
};

}  // namespace kopp::detail
