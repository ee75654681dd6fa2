#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ucontext.h>

namespace kopp::model_checking {

/// The next operation of a fiber.
enum class Op {
  kLock,
  kUnlock,
  kWait,    // starts to wait for a condition variable, and releases the lock
  kAsleep,  // is blocked on a condition variable; the step is a spurious wake-up
  kNotifyOne,
  kNotifyAll,
  kFutexWait,
  kFutexAsleep,
  kFutexWake,
  kYield,
  kJoin,
  kStep,
};

/// A possible next step: an operation of `fiber`.
struct Transition {
  std::size_t fiber = 0;
  Op op = Op::kStep;
  std::size_t object = 0;
  std::size_t mutex = 0;     // the mutex of a wait, or the fiber of a join
  std::size_t sleepers = 0;  // the number of waiting fibers at a notification
  std::size_t pick = 0;      // the index of the sleeper that is notified
  bool operator==(const Transition&) const = default;
};

/// Chooses the next step.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Returns an index into `choices`, which is not empty. `last_fiber` is the fiber that ran last.
  virtual std::size_t Choose(const std::vector<Transition>& choices, std::size_t last_fiber) = 0;
};

/// One run of a program: its fibers, and the state of its mutexes and condition variables.
class Run {
 public:
  Run(Strategy& strategy, bool at_unlock, int max_spurious_wakeups);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Runs `program` once. Returns when all fibers have ended, or cannot continue.
  void Execute(const std::function<void()>& program);

  [[nodiscard]] std::uint64_t steps() const { return schedule_.size(); }
  [[nodiscard]] const std::string& failure() const { return failure_; }
  /// Records the first failure of the run, with the schedule.
  void ReportFailure(const std::string& message);

  /// Returns the run of the calling fiber, or null on a thread that is not a fiber.
  static Run* Current();

  // The intercepted functions and the functions of scheduler.hpp call the following functions on
  // fibers.
  void Lock(const void* mutex);
  void Unlock(const void* mutex);
  void Wait(const void* cv, const void* mutex);
  void Notify(const void* cv, bool all);
  /// Blocks unless `changed()` returns true. Returns whether it blocked.
  bool FutexWait(const void* word, const std::function<bool()>& changed);
  void FutexWake(const void* word, std::size_t count);
  void Yield();
  std::uint64_t Step(const void* object);
  [[nodiscard]] std::size_t Spawn(std::function<void()> body);
  void Join(std::size_t fiber);
  [[nodiscard]] std::size_t Self() const { return running_; }
  std::vector<std::uint64_t> PopLockSteps();
  /// Returns the number of fibers that are blocked on condition variables.
  [[nodiscard]] std::size_t NumSleepers() const;

 private:
  struct Fiber {
    ucontext_t context = {};
    std::unique_ptr<char[]> stack;
    std::function<void()> body;
    Transition next;
    std::vector<std::uint64_t> lock_steps;
    bool finished = false;
  };
  static constexpr std::size_t kNoFiber = ~std::size_t{0};
  static constexpr std::uint64_t kMaxSteps = 5000;

  static void FiberMain();
  /// Registers the next operation of the calling fiber. Returns when the fiber may execute it.
  void SchedulingPoint(Op op, std::size_t object, std::size_t mutex = kNoFiber);
  void SwitchTo(std::size_t fiber);
  void SwitchToNext();
  /// Returns the fiber that runs next, or kNoFiber at the end of the run.
  std::size_t ChooseNext();
  [[nodiscard]] std::vector<Transition> Choices() const;
  [[nodiscard]] bool CanRun(const Fiber& fiber) const;
  [[nodiscard]] std::vector<std::size_t> Sleepers(Op op, std::size_t object) const;
  void Wake(std::size_t fiber);
  std::size_t IdOf(const void* object);
  [[nodiscard]] std::string Describe() const;

  Strategy& strategy_;
  const bool at_unlock_;
  int remaining_spurious_wakeups_;
  ucontext_t main_ = {};
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::size_t running_ = kNoFiber;
  // The fibers that wait until the fiber that they started reaches its first step.
  std::vector<std::size_t> starters_;
  std::size_t pick_ = 0;
  std::map<const void*, std::size_t> ids_;     // objects, numbered in the order of their first use
  std::map<std::size_t, std::size_t> owners_;  // the fiber that holds each mutex
  std::vector<Transition> schedule_;
  std::string failure_;
};

}  // namespace kopp::model_checking
