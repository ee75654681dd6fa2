#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kopp::proof {

// A scheduler that runs a multi-threaded program under many schedules and controls each of them.
// The program is normal code: it uses std::thread, mutexes and condition variables, and joins its
// threads. Its threads are fibers of the calling thread, of which one runs at a time. The scheduler
// chooses the next fiber before each lock, wait and notification; interpose.cpp intercepts these
// calls.
//
// It detects and reports, with the schedule: a call of Fail, a deadlock (also by a lost wake-up),
// an endless program, and an unlock by a thread that does not hold the lock. It does not detect
// data races, because writes are visible to the other fibers immediately: ThreadSanitizer does.
//
// A try_lock behaves like a lock, so a spinning thread gets the lock as soon as it is free. The
// thread that notify_one wakes is part of the schedule.

/// An exhaustive search.
struct Search {
  /// The maximum number of times that a schedule interrupts a fiber that could continue. Unset: all
  /// schedules; of those that differ only in the order of steps on different objects, which have
  /// the same effect, one.
  std::optional<int> preemptions = {};
  /// Also schedules before each unlock: for programs that share atomics. The search does not see
  /// atomics as objects, so such programs need `preemptions`.
  bool at_unlock = false;
  int spurious_wakeups = 0;         ///< the maximum number in one schedule
  std::uint64_t limit = 2'000'000;  ///< the maximum number of schedules; more are a failure
};

/// Random schedules (PCT, probabilistic concurrency testing): fibers have random priorities, and
/// `depth` - 1 times the running fiber gets the lowest one. A run finds a bug that needs `depth`
/// ordering constraints with a known probability.
struct RandomSearch {
  std::uint64_t seed = 0;
  std::uint64_t runs = 1000;
  int depth = 3;
  int spurious_wakeups = 0;
};

struct Explored {
  std::uint64_t schedules = 0;
  std::uint64_t longest = 0;  ///< the number of steps of the longest schedule
  std::string failure = {};   ///< empty: no bug was found
};

Explored Explore(const Search& search, const std::function<void()>& program);
Explored Explore(const RandomSearch& search, const std::function<void()>& program);

/// For programs: reports a bug in this schedule, which continues to its end.
void Fail(const std::string& message);

/// For programs: a scheduling point on `object`. Returns the number of the step.
std::uint64_t Step(const void* object);

/// For programs: returns the steps in which the calling thread acquired a lock since the last call.
std::vector<std::uint64_t> PopLockSteps();

/// For programs: blocks until at least `threads` threads wait for condition variables.
void AwaitAsleep(std::size_t threads);

}  // namespace kopp::proof
