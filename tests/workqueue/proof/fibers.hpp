#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ucontext.h>

namespace kopp::proof {

/// What a fiber is about to do.
enum class Op {
  kLock,
  kUnlock,
  kWait,    // on a condition variable: lets the lock go
  kAsleep,  // in that wait
  kNotifyOne,
  kNotifyAll,
  kFutexWait,
  kFutexAsleep,
  kFutexWake,
  kYield,
  kJoin,
  kStep,
};

/// One way to go on: what `fiber` is about to do, and how where there are several ways.
struct Transition {
  std::size_t fiber = 0;
  Op op = Op::kStep;
  std::size_t object = 0;
  std::size_t mutex = 0;     // of a wait
  std::size_t sleepers = 0;  // of a notification
  std::size_t pick = 0;      // which of them
  bool operator==(const Transition&) const = default;
};

/// Chooses among the ways to go on: the schedule.
class Chooser {
 public:
  virtual ~Chooser() = default;
  /// `last` is the fiber that ran up to here. Returns the place in `ways`, which is not empty.
  virtual std::size_t Choose(const std::vector<Transition>& ways, std::size_t last) = 0;
};

/// One run of a program: its fibers, and what its mutexes and condition variables are to them.
class Run {
 public:
  Run(Chooser& chooser, bool at_unlock, int spurious_wakeups);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void Execute(const std::function<void()>& program);

  [[nodiscard]] std::uint64_t steps() const { return schedule_.size(); }
  [[nodiscard]] const std::string& failure() const { return failure_; }
  void Fail(const std::string& what);

  /// The run whose fiber is running, or null: not one of ours.
  static Run* Current();

  // What the interposed functions do for fibers.
  void Lock(const void* mutex);
  void Unlock(const void* mutex);
  void Wait(const void* cv, const void* mutex);
  void Notify(const void* cv, bool all);
  /// Blocks unless `changed()`; false if it did not.
  bool FutexWait(const void* word, const std::function<bool()>& changed);
  void FutexWake(const void* word, std::size_t count);
  void Yield();
  std::uint64_t Step(const void* object);
  [[nodiscard]] std::size_t Spawn(std::function<void()> body);
  void Join(std::size_t fiber);
  [[nodiscard]] std::size_t Self() const { return running_; }
  std::vector<std::uint64_t> TakeLockSteps();
  [[nodiscard]] std::size_t Asleep() const;

 private:
  struct Fiber {
    ucontext_t context = {};
    std::unique_ptr<char[]> stack;
    std::function<void()> body;
    Transition next;
    std::vector<std::uint64_t> lock_steps;
    bool finished = false;
  };
  static constexpr std::size_t kNobody = ~std::size_t{0};
  static constexpr std::uint64_t kForEver = 5000;  // steps

  static void Enter();
  /// The calling fiber is about to do this: returns when it may.
  void Point(Op op, std::size_t object, std::size_t mutex = kNobody);
  void SwitchTo(std::size_t fiber);
  void GoOn();
  /// Who goes on, or kNobody at the end.
  std::size_t Decide();
  [[nodiscard]] std::vector<Transition> Ways() const;
  [[nodiscard]] bool CanGoOn(const Fiber& fiber) const;
  [[nodiscard]] std::vector<std::size_t> Sleepers(Op op, std::size_t object) const;
  void Wake(std::size_t fiber);
  std::size_t IdOf(const void* object);
  [[nodiscard]] std::string Told() const;

  Chooser& chooser_;
  const bool at_unlock_;
  int spurious_wakeups_;  // left
  ucontext_t main_ = {};
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::size_t running_ = kNobody;
  std::vector<std::size_t> starters_;  // each waits for the fiber it made to reach its first step
  std::size_t pick_ = 0;
  std::map<const void*, std::size_t> ids_;     // in the order in which they turned up
  std::map<std::size_t, std::size_t> owners_;  // of mutexes
  std::vector<Transition> schedule_;
  std::string failure_;
};

}  // namespace kopp::proof
