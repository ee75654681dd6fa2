#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

namespace kopp {

/// A value that can be reached only with its mutex held: Lock() is the one way in.
///
/// The value's type says what the lock protects. Hold one lock at a time, and call no user code
/// under it.
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
    Locked(std::mutex& mutex, T& value) : lock_(mutex), value_(&value) {}

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
