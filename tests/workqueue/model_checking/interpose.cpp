// Replaces the functions of the C library that lock, wait and notify. On a fiber of a Run they call
// the Run; on all other threads they call the C library. The linker prefers these definitions in
// the binary to the definitions in the library.
#include "fibers.hpp"
#include "scheduler.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

namespace {

using kopp::model_checking::Run;

/// Returns the function of this name in the C library.
template <typename F>
F Real(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

// The id of the first fiber. The ids of threads are addresses, so they differ from it.
constexpr pthread_t kFirstFiberId = 1;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names of the C library
extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (Run* run = Run::Current()) return run->Lock(mutex), 0;
  static const auto kReal = Real<decltype(&pthread_mutex_lock)>("pthread_mutex_lock");
  return kReal(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (Run* run = Run::Current()) return run->Lock(mutex), 0;
  static const auto kReal = Real<decltype(&pthread_mutex_trylock)>("pthread_mutex_trylock");
  return kReal(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (Run* run = Run::Current()) return run->Unlock(mutex), 0;
  static const auto kReal = Real<decltype(&pthread_mutex_unlock)>("pthread_mutex_unlock");
  return kReal(mutex);
}

int pthread_cond_wait(pthread_cond_t* cv, pthread_mutex_t* mutex) {
  if (Run* run = Run::Current()) return run->Wait(cv, mutex), 0;
  static const auto kReal = Real<decltype(&pthread_cond_wait)>("pthread_cond_wait");
  return kReal(cv, mutex);
}

int pthread_cond_timedwait(pthread_cond_t* cv, pthread_mutex_t* mutex, const timespec* deadline) {
  if (Run* run = Run::Current()) {
    run->ReportFailure("the program uses a timed wait, but the scheduler has no real time");
    return ETIMEDOUT;
  }
  static const auto kReal = Real<decltype(&pthread_cond_timedwait)>("pthread_cond_timedwait");
  return kReal(cv, mutex, deadline);
}

int pthread_cond_clockwait(pthread_cond_t* cv, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* deadline) {
  if (Run* run = Run::Current()) {
    run->ReportFailure("the program uses a timed wait, but the scheduler has no real time");
    return ETIMEDOUT;
  }
  static const auto kReal = Real<decltype(&pthread_cond_clockwait)>("pthread_cond_clockwait");
  return kReal(cv, mutex, clock, deadline);
}

int pthread_cond_signal(pthread_cond_t* cv) noexcept {
  if (Run* run = Run::Current()) return run->Notify(cv, false), 0;
  static const auto kReal = Real<decltype(&pthread_cond_signal)>("pthread_cond_signal");
  return kReal(cv);
}

int pthread_cond_broadcast(pthread_cond_t* cv) noexcept {
  if (Run* run = Run::Current()) return run->Notify(cv, true), 0;
  static const auto kReal = Real<decltype(&pthread_cond_broadcast)>("pthread_cond_broadcast");
  return kReal(cv);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  if (Run* run = Run::Current()) {
    *thread = kFirstFiberId + run->Spawn([start, argument] { start(argument); });
    return 0;
  }
  static const auto kReal = Real<decltype(&pthread_create)>("pthread_create");
  return kReal(thread, attributes, start, argument);
}

int pthread_join(pthread_t thread, void** result) {
  if (Run* run = Run::Current()) return run->Join(thread - kFirstFiberId), 0;
  static const auto kReal = Real<decltype(&pthread_join)>("pthread_join");
  return kReal(thread, result);
}

pthread_t pthread_self() noexcept {
  if (Run* run = Run::Current()) return kFirstFiberId + run->Self();
  static const auto kReal = Real<decltype(&pthread_self)>("pthread_self");
  return kReal();
}

int sched_yield() noexcept {
  if (Run* run = Run::Current()) return run->Yield(), 0;
  static const auto kReal = Real<decltype(&sched_yield)>("sched_yield");
  return kReal();
}

/// The destructor of std::stop_callback waits with a futex for a running callback.
long syscall(long number, ...) noexcept {
  std::va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  Run* run = Run::Current();
  if (run == nullptr || number != SYS_futex) {
    static const auto kReal = Real<decltype(&syscall)>("syscall");
    return kReal(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  const auto* word = reinterpret_cast<const int*>(a[0]);
  if ((a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE) {
    run->FutexWake(word, static_cast<std::size_t>(a[2]));
    return 0;
  }
  const bool waited = run->FutexWait(
      word, [&] { return __atomic_load_n(word, __ATOMIC_SEQ_CST) != static_cast<int>(a[2]); });
  if (waited) return 0;
  errno = EAGAIN;
  return -1;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
