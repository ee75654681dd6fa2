#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kopp::model_checking {

// A scheduler that runs a multi-threaded program under many schedules and controls each of them.
// The program is normal code: it uses std::thread, mutexes and condition variables, and joins its
// threads. Its threads run as fibers on the calling thread, one at a time. The scheduler chooses
// the next fiber before each lock, wait and notification; interpose.cpp intercepts these calls.
//
// The scheduler detects the following bugs, and reports them with the schedule:
// - a call of ReportFailure
// - a deadlock, for example after a lost wake-up
// - a program that does not end within 5000 steps
// - an unlock by a thread that does not hold the lock
// It does not detect data races, because all fibers run on one thread. Use ThreadSanitizer for data
// races.
//
// A try_lock behaves like a lock, so a spinning thread gets the lock as soon as it is free. The
// schedule also determines which thread notify_one wakes.

/// Options of an exhaustive search.
struct ExhaustiveSearchOptions {
  /// The maximum number of times that a schedule interrupts a fiber that could continue. If it is
  /// unset, the number is unlimited, and the search uses partial-order reduction: of several
  /// schedules that differ only in the order of independent steps, it runs one.
  std::optional<int> max_preemptions = {};
  /// Whether there is also a scheduling point before each unlock. Set it for programs that share
  /// atomics. Partial-order reduction ignores atomics, so also set max_preemptions for them.
  bool at_unlock = false;
  int max_spurious_wakeups = 0;  ///< the maximum number in one schedule
  /// The maximum number of runs. Explore reports a failure if more are needed.
  std::uint64_t max_runs = 2'000'000;
};

/// Options of a random search (PCT, probabilistic concurrency testing). Fibers have random
/// priorities. The running fiber gets the lowest priority `depth` - 1 times. A run finds a bug that
/// needs `depth` ordering constraints with a known probability.
struct RandomSearchOptions {
  std::uint64_t seed = 0;
  std::uint64_t runs = 1000;     ///< the number of schedules
  int depth = 3;                 ///< see above; at least 1
  int max_spurious_wakeups = 0;  ///< the maximum number in one schedule
};

struct ExplorationResult {
  std::uint64_t schedules = 0;  ///< the number of schedules that were run and are not equivalent
  std::uint64_t max_steps = 0;  ///< the number of steps of the longest schedule
  std::string failure = {};     ///< empty if no bug was found
};

/// Runs `program` once for each schedule, on the calling thread, until a schedule fails. `program`
/// must be deterministic: its steps must not depend on random numbers, on a clock or on state that
/// survives a run. Otherwise Explore can terminate the process with an error message.
ExplorationResult Explore(const ExhaustiveSearchOptions& options,
                          const std::function<void()>& program);
ExplorationResult Explore(const RandomSearchOptions& options, const std::function<void()>& program);

// The following functions can only be called in a program that Explore runs.

/// Reports a bug in the current schedule. The schedule continues to its end.
void ReportFailure(const std::string& message);

/// Lets the scheduler switch to another fiber before a step on `object`. Returns the number of the
/// step.
std::uint64_t SchedulingPoint(const void* object);

/// Returns the steps in which the calling thread acquired a lock since the last call.
std::vector<std::uint64_t> PopLockSteps();

/// Blocks until at least `count` threads are blocked on condition variables.
void AwaitBlockedThreads(std::size_t count);

}  // namespace kopp::model_checking
