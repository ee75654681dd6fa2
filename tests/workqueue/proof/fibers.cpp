#include "fibers.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include <sys/single_threaded.h>

namespace kopp::proof {
namespace {

constexpr std::size_t kStack = std::size_t{256} * 1024;

Run* running = nullptr;                       // the one that goes on; one at a time
std::vector<std::unique_ptr<char[]>> stacks;  // of earlier runs

constexpr std::array kNames{"lock",       "unlock",     "wait",       "wake for no reason",
                            "notify one", "notify all", "futex wait", "futex sleep",
                            "futex wake", "yield",      "join",       "step"};

}  // namespace

Run::Run(Chooser& chooser, bool at_unlock, int spurious_wakeups)
    : chooser_(chooser), at_unlock_(at_unlock), spurious_wakeups_(spurious_wakeups) {}

Run::~Run() {
  for (const auto& fiber : fibers_) stacks.push_back(std::move(fiber->stack));
}

Run* Run::Current() { return running; }

void Run::Execute(const std::function<void()>& program) {
  __libc_single_threaded = 0;  // else the standard library leaves out what one thread does not need
  running = this;
  (void)Spawn(program);
  running = nullptr;
}

void Run::Fail(const std::string& what) {
  if (failure_.empty()) failure_ = what + "\n" + Told();
}

std::size_t Run::Spawn(std::function<void()> body) {
  auto fiber = std::make_unique<Fiber>();
  if (stacks.empty()) {
    fiber->stack.reset(new char[kStack]);
  } else {
    fiber->stack = std::move(stacks.back());
    stacks.pop_back();
  }
  fiber->body = std::move(body);
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack.get();
  fiber->context.uc_stack.ss_size = kStack;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, &Run::Enter, 0);
  fibers_.push_back(std::move(fiber));
  const std::size_t made = fibers_.size() - 1;
  // It runs to its first step at once: nobody can tell when it did what comes before.
  const std::size_t before = running_;
  if (before != kNobody) starters_.push_back(before);
  running_ = made;
  swapcontext(before == kNobody ? &main_ : &fibers_[before]->context, &fibers_[made]->context);
  return made;
}

void Run::Enter() {
  Run& run = *running;
  Fiber& self = *run.fibers_[run.running_];
  try {
    self.body();
  } catch (const std::exception& error) {
    run.Fail(std::string("a thread ended by an exception: ") + error.what());
  }
  self.finished = true;
  run.GoOn();
}

void Run::GoOn() {
  if (starters_.empty()) return SwitchTo(Decide());
  const std::size_t starter = starters_.back();
  starters_.pop_back();
  SwitchTo(starter);
}

void Run::SwitchTo(std::size_t fiber) {
  const std::size_t from = std::exchange(running_, fiber);
  if (from == fiber) return;
  swapcontext(&fibers_[from]->context, fiber == kNobody ? &main_ : &fibers_[fiber]->context);
}

void Run::Point(Op op, std::size_t object, std::size_t mutex) {
  fibers_[running_]->next = {.fiber = running_, .op = op, .object = object, .mutex = mutex};
  GoOn();
}

std::size_t Run::Decide() {
  for (;;) {
    const std::vector<Transition> ways = Ways();
    const bool only_luck = std::all_of(ways.begin(), ways.end(),
                                       [](const auto& way) { return way.op == Op::kAsleep; });
    if (only_luck) {
      const auto stuck = [](const auto& fiber) { return !fiber->finished; };
      if (std::any_of(fibers_.begin(), fibers_.end(), stuck)) Fail("nobody can go on");
      return kNobody;
    }
    if (steps() == kForEver) {
      Fail("this goes on for ever");
      return kNobody;
    }
    const Transition way = ways[chooser_.Choose(ways, running_)];
    schedule_.push_back(way);
    pick_ = way.pick;
    if (way.op != Op::kAsleep) return way.fiber;
    --spurious_wakeups_;
    Wake(way.fiber);
  }
}

std::vector<Transition> Run::Ways() const {
  std::vector<Transition> ways;
  const Transition* yields = nullptr;
  for (const auto& fiber : fibers_) {
    if (fiber->finished) continue;
    Transition way = fiber->next;
    if (way.op == Op::kYield && way.fiber == running_) {
      yields = &fiber->next;
      continue;
    }
    if (!CanGoOn(*fiber)) continue;
    if (way.op == Op::kJoin) return {way};  // nobody minds when: so now
    if (way.op == Op::kNotifyOne || way.op == Op::kNotifyAll) {
      way.sleepers = Sleepers(Op::kAsleep, way.object).size();
    }
    const std::size_t picks = way.op == Op::kNotifyOne ? std::max<std::size_t>(way.sleepers, 1) : 1;
    for (way.pick = 0; way.pick < picks; ++way.pick) ways.push_back(way);
  }
  if (ways.empty() && yields != nullptr) ways.push_back(*yields);
  return ways;
}

bool Run::CanGoOn(const Fiber& fiber) const {
  switch (fiber.next.op) {
    case Op::kLock:
      return !owners_.contains(fiber.next.object);
    case Op::kAsleep:
      return spurious_wakeups_ > 0;
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
  Point(Op::kLock, id);
  owners_[id] = running_;
  fibers_[running_]->lock_steps.push_back(steps());
}

void Run::Unlock(const void* mutex) {
  const std::size_t id = IdOf(mutex);
  if (at_unlock_) Point(Op::kUnlock, id);
  const auto owner = owners_.find(id);
  if (owner == owners_.end() || owner->second != running_) Fail("a lock is let go by another");
  owners_.erase(id);
}

void Run::Wait(const void* cv, const void* mutex) {
  const std::size_t id = IdOf(cv);
  const std::size_t lock = IdOf(mutex);
  Point(Op::kWait, id, lock);
  owners_.erase(lock);
  Point(Op::kAsleep, id, lock);  // Wake makes a lock of it
  owners_[lock] = running_;
  fibers_[running_]->lock_steps.push_back(steps());
}

void Run::Notify(const void* cv, bool all) {
  const std::size_t id = IdOf(cv);
  Point(all ? Op::kNotifyAll : Op::kNotifyOne, id);
  const std::vector<std::size_t> sleepers = Sleepers(Op::kAsleep, id);
  if (sleepers.empty()) return;
  if (!all) return Wake(sleepers[pick_]);
  for (const std::size_t sleeper : sleepers) Wake(sleeper);
}

bool Run::FutexWait(const void* word, const std::function<bool()>& changed) {
  const std::size_t id = IdOf(word);
  Point(Op::kFutexWait, id);
  if (changed()) return false;
  Point(Op::kFutexAsleep, id);
  return true;
}

void Run::FutexWake(const void* word, std::size_t count) {
  const std::size_t id = IdOf(word);
  Point(Op::kFutexWake, id);
  for (const std::size_t sleeper : Sleepers(Op::kFutexAsleep, id)) {
    if (count-- == 0) break;
    fibers_[sleeper]->next.op = Op::kStep;
  }
}

void Run::Yield() { Point(Op::kYield, IdOf(this)); }

std::uint64_t Run::Step(const void* object) {
  Point(Op::kStep, IdOf(object));
  return steps();
}

void Run::Join(std::size_t fiber) { Point(Op::kJoin, IdOf(fibers_[fiber].get()), fiber); }

std::size_t Run::Asleep() const {
  return static_cast<std::size_t>(
      std::count_if(fibers_.begin(), fibers_.end(),
                    [](const auto& fiber) { return fiber->next.op == Op::kAsleep; }));
}

std::vector<std::uint64_t> Run::TakeLockSteps() {
  return std::exchange(fibers_[running_]->lock_steps, {});
}

std::size_t Run::IdOf(const void* object) {
  return ids_.try_emplace(object, ids_.size()).first->second;
}

std::string Run::Told() const {
  std::string told = "schedule:\n";
  for (const Transition& way : schedule_) {
    told += "  thread " + std::to_string(way.fiber) + ": " +
            kNames.at(static_cast<std::size_t>(way.op)) + " of " + std::to_string(way.object);
    if (way.sleepers > 1) told += ", sleeper " + std::to_string(way.pick);
    told += "\n";
  }
  for (const auto& fiber : fibers_) {
    if (fiber->finished) continue;
    const Transition& next = fiber->next;
    told += "then thread " + std::to_string(next.fiber) +
            " is at: " + kNames.at(static_cast<std::size_t>(next.op)) + " of " +
            std::to_string(next.object) + "\n";
  }
  return told;
}

}  // namespace kopp::proof
