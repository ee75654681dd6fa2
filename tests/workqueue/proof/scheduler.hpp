#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kopp::proof {

/// Runs a program of several threads under one schedule after another, each chosen, none left to
/// luck. The program is real code: it makes std::threads, locks and waits as ever, and joins what
/// it made. Its threads are fibers of the calling thread: exactly one runs, and who goes on is
/// decided before each lock, wait and notification (interpose.cpp catches these).
///
/// Found, and reported with the schedule that leads there: what the program says by Fail, a
/// deadlock (nobody can go on; a lost wake-up is one), a program that goes on for ever, and a lock
/// let go by somebody else. Not found: races on memory, which no schedule of whole steps shows.
/// Threads see each other's writes at once here; ThreadSanitizer has to say the rest.
///
/// A failed try_lock is taken as a lock: who spins gets it as soon as it is free. Which sleeper
/// notify_one wakes is a choice like any other.

/// All schedules, or all that are promised.
struct Search {
  /// All schedules that take the processor away from a thread that could go on no more than this
  /// often. Unset: all schedules, but one of those that differ only in the order of steps on
  /// different objects, which nobody can tell apart.
  std::optional<int> preemptions = {};
  /// A step more where a lock is let go: for a program that shares atomics too. Those are no
  /// objects to the search, so it wants `preemptions`.
  bool at_unlock = false;
  int spurious_wakeups = 0;         ///< in one schedule, at the most, at any place
  std::uint64_t limit = 2'000'000;  ///< schedules; more are a failure: the promise is not kept
};

/// Schedules at random: threads have priorities, and `depth` - 1 times one falls to the bottom. A
/// bug that needs `depth` orderings shows up in each run with a known probability (PCT).
struct RandomSearch {
  std::uint64_t seed = 0;
  std::uint64_t runs = 1000;
  int depth = 3;
  int spurious_wakeups = 0;
};

struct Explored {
  std::uint64_t schedules = 0;
  std::uint64_t longest = 0;  ///< steps of one schedule
  std::string failure = {};   ///< empty: none
};

Explored Explore(const Search& search, const std::function<void()>& program);
Explored Explore(const RandomSearch& search, const std::function<void()>& program);

/// For programs: this schedule shows a bug. It still runs to its end.
void Fail(const std::string& what);

/// For programs: a step on `object`, before what follows. Returns its number.
std::uint64_t Step(const void* object);

/// For programs: the steps in which the calling thread took a lock, since it last asked.
std::vector<std::uint64_t> TakeLockSteps();

/// For programs: returns when at least `threads` wait for condition variables.
void AwaitAsleep(std::size_t threads);

}  // namespace kopp::proof
