#pragma once

#include <mutex>

#include <kopp/workqueue/guarded.hpp>

namespace kopp::workqueue::detail {

/// Tells the processor that this thread spins until another thread writes to memory.
inline void CpuRelax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Acquires `lock`. Spins before it blocks, because another thread usually releases the lock in
/// less time than a sleep takes. Each pause is longer than the previous pause, so that the holder
/// of the lock can continue with warm caches.
[[gnu::noinline]] inline void SpinThenLock(std::unique_lock<std::mutex>& lock) {
  constexpr int kMaxSpins = 1024;
  for (int spins = 4; spins <= kMaxSpins; spins *= 2) {
    for (int i = 0; i < spins; ++i) CpuRelax();
    if (lock.try_lock()) return;
  }
  lock.lock();
}

/// A Guarded whose Lock spins for a short time before it blocks. Only for locks of the queues that
/// many threads acquire at a high rate: spinning uses CPU time, which the quota of a container
/// limits.
template <typename T>
class SpinGuarded : public kopp::detail::Guarded<T> {
 public:
  using kopp::detail::Guarded<T>::Guarded;

  typename kopp::detail::Guarded<T>::Locked Lock() {
    return this->LockWith([](std::mutex& mutex) {
      std::unique_lock lock(mutex, std::try_to_lock);
      if (!lock.owns_lock()) SpinThenLock(lock);
      return lock;
    });
  }
};

}  // namespace kopp::workqueue::detail
