#include "fibers.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include <sys/single_threaded.h>

namespace kopp::model_checking {
namespace {

constexpr std::size_t kStackSize = std::size_t{256} * 1024;

Run* current_run = nullptr;
std::vector<std::unique_ptr<char[]>> unused_stacks;  // the stacks of earlier runs

constexpr std::array kOpNames{"lock",       "unlock",     "wait",       "spurious wake-up",
                              "notify one", "notify all", "futex wait", "futex sleep",
                              "futex wake", "yield",      "join",       "step"};

}  // namespace

Run::Run(Strategy& strategy, bool at_unlock, int max_spurious_wakeups)
    : strategy_(strategy),
      at_unlock_(at_unlock),
      remaining_spurious_wakeups_(max_spurious_wakeups) {}

Run::~Run() {
  for (const auto& fiber : fibers_) unused_stacks.push_back(std::move(fiber->stack));
}

Run* Run::Current() { return current_run; }

void Run::Execute(const std::function<void()>& program) {
  __libc_single_threaded = 0;  // otherwise the standard library omits locks and atomics
  current_run = this;
  (void)Spawn(program);
  current_run = nullptr;
}

void Run::ReportFailure(const std::string& message) {
  if (failure_.empty()) failure_ = message + "\n" + Describe();
}

std::size_t Run::Spawn(std::function<void()> body) {
  auto fiber = std::make_unique<Fiber>();
  if (unused_stacks.empty()) {
    fiber->stack.reset(new char[kStackSize]);
  } else {
    fiber->stack = std::move(unused_stacks.back());
    unused_stacks.pop_back();
  }
  fiber->body = std::move(body);
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack.get();
  fiber->context.uc_stack.ss_size = kStackSize;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, &Run::FiberMain, 0);
  fibers_.push_back(std::move(fiber));
  const std::size_t started = fibers_.size() - 1;
  // Run the new fiber to its first step now. Other fibers cannot observe its actions before that.
  const std::size_t before = running_;
  if (before != kNoFiber) starters_.push_back(before);
  running_ = started;
  swapcontext(before == kNoFiber ? &main_ : &fibers_[before]->context, &fibers_[started]->context);
  return started;
}

void Run::FiberMain() {
  Run& run = *current_run;
  Fiber& self = *run.fibers_[run.running_];
  try {
    self.body();
  } catch (const std::exception& error) {
    run.ReportFailure(std::string("a thread ended with an exception: ") + error.what());
  }
  self.finished = true;
  run.SwitchToNext();
}

void Run::SwitchToNext() {
  if (starters_.empty()) return SwitchTo(ChooseNext());
  const std::size_t starter = starters_.back();
  starters_.pop_back();
  SwitchTo(starter);
}

void Run::SwitchTo(std::size_t fiber) {
  const std::size_t from = std::exchange(running_, fiber);
  if (from == fiber) return;
  swapcontext(&fibers_[from]->context, fiber == kNoFiber ? &main_ : &fibers_[fiber]->context);
}

void Run::SchedulingPoint(Op op, std::size_t object, std::size_t mutex) {
  fibers_[running_]->next = {.fiber = running_, .op = op, .object = object, .mutex = mutex};
  SwitchToNext();
}

std::size_t Run::ChooseNext() {
  for (;;) {
    const std::vector<Transition> choices = Choices();
    const bool all_blocked = std::all_of(choices.begin(), choices.end(), [](const auto& choice) {
      return choice.op == Op::kAsleep;  // only a spurious wake-up is possible
    });
    if (all_blocked) {
      const auto unfinished = [](const auto& fiber) { return !fiber->finished; };
      if (std::any_of(fibers_.begin(), fibers_.end(), unfinished)) ReportFailure("deadlock");
      return kNoFiber;
    }
    if (steps() == kMaxSteps) {
      ReportFailure("the program did not end within " + std::to_string(kMaxSteps) + " steps");
      return kNoFiber;
    }
    const Transition choice = choices[strategy_.Choose(choices, running_)];
    schedule_.push_back(choice);
    pick_ = choice.pick;
    if (choice.op != Op::kAsleep) return choice.fiber;
    --remaining_spurious_wakeups_;
    Wake(choice.fiber);
  }
}

std::vector<Transition> Run::Choices() const {
  std::vector<Transition> choices;
  const Transition* yields = nullptr;
  for (const auto& fiber : fibers_) {
    if (fiber->finished) continue;
    Transition choice = fiber->next;
    if (choice.op == Op::kYield && choice.fiber == running_) {
      yields = &fiber->next;
      continue;
    }
    if (!CanRun(*fiber)) continue;
    if (choice.op == Op::kJoin) return {choice};  // independent of all other steps: execute it now
    if (choice.op == Op::kNotifyOne || choice.op == Op::kNotifyAll) {
      choice.sleepers = Sleepers(Op::kAsleep, choice.object).size();
    }
    const std::size_t picks =
        choice.op == Op::kNotifyOne ? std::max<std::size_t>(choice.sleepers, 1) : 1;
    for (choice.pick = 0; choice.pick < picks; ++choice.pick) choices.push_back(choice);
  }
  if (choices.empty() && yields != nullptr) choices.push_back(*yields);
  return choices;
}

bool Run::CanRun(const Fiber& fiber) const {
  switch (fiber.next.op) {
    case Op::kLock:
      return !owners_.contains(fiber.next.object);
    case Op::kAsleep:
      return remaining_spurious_wakeups_ > 0;
    case Op::kFutexAsleep:
      return false;
    case Op::kJoin:
      return fibers_[fiber.next.mutex]->finished;
    default:
      return true;
  }
}

std::vector<std::size_t> Run::Sleepers(Op op, std::size_t object) const {
  std::vector<std::size_t> sleepers;
  for (const auto& fiber : fibers_) {
    const Transition& next = fiber->next;
    if (!fiber->finished && next.op == op && next.object == object) sleepers.push_back(next.fiber);
  }
  return sleepers;
}

void Run::Wake(std::size_t fiber) {
  Transition& next = fibers_[fiber]->next;
  next = {.fiber = fiber, .op = Op::kLock, .object = next.mutex};
}

void Run::Lock(const void* mutex) {
  const std::size_t id = IdOf(mutex);
  SchedulingPoint(Op::kLock, id);
  owners_[id] = running_;
  fibers_[running_]->lock_steps.push_back(steps());
}

void Run::Unlock(const void* mutex) {
  const std::size_t id = IdOf(mutex);
  if (at_unlock_) SchedulingPoint(Op::kUnlock, id);
  const auto owner = owners_.find(id);
  if (owner == owners_.end() || owner->second != running_)
    ReportFailure("a mutex is unlocked by a fiber that does not hold it");
  owners_.erase(id);
}

void Run::Wait(const void* cv, const void* mutex) {
  const std::size_t id = IdOf(cv);
  const std::size_t lock = IdOf(mutex);
  SchedulingPoint(Op::kWait, id, lock);
  owners_.erase(lock);
  SchedulingPoint(Op::kAsleep, id, lock);  // Wake changes it to kLock
  owners_[lock] = running_;
  fibers_[running_]->lock_steps.push_back(steps());
}

void Run::Notify(const void* cv, bool all) {
  const std::size_t id = IdOf(cv);
  SchedulingPoint(all ? Op::kNotifyAll : Op::kNotifyOne, id);
  const std::vector<std::size_t> sleepers = Sleepers(Op::kAsleep, id);
  if (sleepers.empty()) return;
  if (!all) return Wake(sleepers[pick_]);
  for (const std::size_t sleeper : sleepers) Wake(sleeper);
}

bool Run::FutexWait(const void* word, const std::function<bool()>& changed) {
  const std::size_t id = IdOf(word);
  SchedulingPoint(Op::kFutexWait, id);
  if (changed()) return false;
  SchedulingPoint(Op::kFutexAsleep, id);
  return true;
}

void Run::FutexWake(const void* word, std::size_t count) {
  const std::size_t id = IdOf(word);
  SchedulingPoint(Op::kFutexWake, id);
  for (const std::size_t sleeper : Sleepers(Op::kFutexAsleep, id)) {
    if (count-- == 0) break;
    fibers_[sleeper]->next.op = Op::kStep;
  }
}

void Run::Yield() { SchedulingPoint(Op::kYield, IdOf(this)); }

std::uint64_t Run::Step(const void* object) {
  SchedulingPoint(Op::kStep, IdOf(object));
  return steps();
}

void Run::Join(std::size_t fiber) { SchedulingPoint(Op::kJoin, IdOf(fibers_[fiber].get()), fiber); }

std::size_t Run::NumSleepers() const {
  return static_cast<std::size_t>(
      std::count_if(fibers_.begin(), fibers_.end(),
                    [](const auto& fiber) { return fiber->next.op == Op::kAsleep; }));
}

std::vector<std::uint64_t> Run::PopLockSteps() {
  return std::exchange(fibers_[running_]->lock_steps, {});
}

std::size_t Run::IdOf(const void* object) {
  return ids_.try_emplace(object, ids_.size()).first->second;
}

std::string Run::Describe() const {
  std::string text = "schedule:\n";
  for (const Transition& choice : schedule_) {
    text += "  thread " + std::to_string(choice.fiber) + ": " +
            kOpNames.at(static_cast<std::size_t>(choice.op)) + " of " +
            std::to_string(choice.object);
    if (choice.sleepers > 1) text += ", sleeper " + std::to_string(choice.pick);
    text += "\n";
  }
  for (const auto& fiber : fibers_) {
    if (fiber->finished) continue;
    const Transition& next = fiber->next;
    text += "then thread " + std::to_string(next.fiber) +
            " is at: " + kOpNames.at(static_cast<std::size_t>(next.op)) + " of " +
            std::to_string(next.object) + "\n";
  }
  return text;
}

}  // namespace kopp::model_checking
