#include "scheduler.hpp"

#include "fibers.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

namespace kopp::proof {
namespace {

bool IsNotification(const Transition& step) {
  return step.op == Op::kNotifyOne || step.op == Op::kNotifyAll;
}

/// Returns true if two steps that are both possible now have the same effect in either order.
bool Independent(const Transition& a, const Transition& b) {
  if (a.fiber == b.fiber || a.op == Op::kYield || b.op == Op::kYield) return false;
  if (a.op == Op::kJoin || b.op == Op::kJoin) return true;
  if (a.op == Op::kAsleep && b.op == Op::kAsleep)
    return false;  // both use up the allowed spurious wake-ups
  if (a.object == b.object) {
    return IsNotification(a) && IsNotification(b) && a.sleepers == 0 && b.sleepers == 0;
  }
  return a.object != b.mutex && a.mutex != b.object;
}

/// A depth-first search: each run of the program changes the last choice that has an alternative
/// left. Omits schedules that differ only in the order of independent steps (sleep sets), and
/// schedules with too many preemptions.
class ExhaustiveSearch final : public Strategy {
 public:
  explicit ExhaustiveSearch(std::optional<int> preemptions) : preemptions_(preemptions) {}

  std::size_t Choose(const std::vector<Transition>& choices, std::size_t last) override {
    if (depth_ == branches_.size()) Push(choices, last);
    Branch& branch = branches_[depth_++];
    const auto at = std::find(choices.begin(), choices.end(), branch.chosen);
    if (at == choices.end()) throw std::logic_error("the program is not deterministic");
    return static_cast<std::size_t>(at - choices.begin());
  }

  /// Prepares the next schedule. Returns false if there is none.
  bool Next() {
    while (!branches_.empty()) {
      Branch& branch = branches_.back();
      branch.asleep.push_back(branch.chosen);
      if (!branch.untried.empty()) {
        branch.chosen = branch.untried.back();
        branch.untried.pop_back();
        break;
      }
      branches_.pop_back();
    }
    depth_ = 0;
    is_redundant_ = false;
    return !branches_.empty();
  }

  /// Whether this run was equivalent to an earlier one.
  [[nodiscard]] bool is_redundant() const { return is_redundant_; }

 private:
  struct Branch {
    Transition chosen;
    std::vector<Transition> untried;
    std::vector<Transition> asleep;  // the sleep set: explored here or before an independent step
    std::size_t last = 0;
    bool last_can_continue = false;
    int preemptions = 0;  // before this branch
  };

  static bool Preempts(const Branch& branch, const Transition& choice) {
    return branch.last_can_continue && choice.fiber != branch.last && choice.op != Op::kAsleep;
  }

  void Push(const std::vector<Transition>& choices, std::size_t last) {
    Branch branch;
    branch.last = last;
    branch.last_can_continue = std::any_of(choices.begin(), choices.end(), [&](const auto& choice) {
      return choice.fiber == last && choice.op != Op::kAsleep && choice.op != Op::kYield;
    });
    if (!branches_.empty()) {
      const Branch& before = branches_.back();
      branch.preemptions = before.preemptions + (Preempts(before, before.chosen) ? 1 : 0);
      if (!preemptions_) {
        for (const Transition& choice : before.asleep) {
          if (Independent(choice, before.chosen)) branch.asleep.push_back(choice);
        }
      }
    }
    for (const Transition& choice : choices) {
      if (preemptions_ && branch.preemptions == *preemptions_ && Preempts(branch, choice)) continue;
      const bool asleep = std::any_of(branch.asleep.begin(), branch.asleep.end(),
                                      [&](const auto& other) { return Same(choice, other); });
      if (!asleep) branch.untried.push_back(choice);
    }
    is_redundant_ = is_redundant_ || branch.untried.empty();
    if (is_redundant_) {  // finish the run with any choices
      branch.untried.clear();
      branch.chosen = choices.front();
    } else {
      branch.chosen = branch.untried.back();
      branch.untried.pop_back();
    }
    branches_.push_back(std::move(branch));
  }

  static bool Same(const Transition& a, const Transition& b) {
    return a.fiber == b.fiber && a.op == b.op && a.pick == b.pick;
  }

  std::optional<int> preemptions_;
  std::vector<Branch> branches_;
  std::size_t depth_ = 0;
  bool is_redundant_ = false;
};

/// Fibers have random priorities, and the one with the highest priority runs. At some random steps
/// its priority becomes the lowest.
class RandomSchedule final : public Strategy {
 public:
  RandomSchedule(std::uint64_t seed, int depth, std::uint64_t length) : random_(seed) {
    std::uniform_int_distribution<std::uint64_t> step(0, std::max<std::uint64_t>(length, 1));
    for (int i = 1; i < depth; ++i) demotion_steps_.insert(step(random_));
  }

  std::size_t Choose(const std::vector<Transition>& choices, std::size_t) override {
    if (demotion_steps_.contains(step_++)) priorities_[choices[Highest(choices)].fiber] = lowest_--;
    const std::size_t fiber = choices[Highest(choices)].fiber;
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const bool spurious = choices[i].op == Op::kAsleep && random_() % 8 == 0;
      if (choices[i].fiber == fiber || spurious) candidates.push_back(i);
    }
    return candidates[random_() % candidates.size()];
  }

 private:
  std::size_t Highest(const std::vector<Transition>& choices) {
    std::size_t highest = 0;
    for (std::size_t i = 1; i < choices.size(); ++i) {
      if (choices[i].op == Op::kAsleep) continue;
      const bool first = choices[highest].op == Op::kAsleep;
      if (first || PriorityOf(choices[i].fiber) > PriorityOf(choices[highest].fiber)) highest = i;
    }
    return highest;
  }

  std::int64_t PriorityOf(std::size_t fiber) {
    const auto [priority, is_new] = priorities_.try_emplace(fiber);
    if (is_new) priority->second = static_cast<std::int64_t>(random_() >> 2);
    return priority->second;
  }

  std::mt19937_64 random_;
  std::set<std::uint64_t> demotion_steps_;
  std::map<std::size_t, std::int64_t> priorities_;
  std::int64_t lowest_ = -1;
  std::uint64_t step_ = 0;
};

}  // namespace

Explored Explore(const Search& search, const std::function<void()>& program) {
  Explored explored;
  ExhaustiveSearch all(search.preemptions);
  std::uint64_t runs = 0;
  do {
    Run run(all, search.at_unlock, search.spurious_wakeups);
    run.Execute(program);
    ++runs;
    if (!all.is_redundant()) ++explored.schedules;
    explored.longest = std::max(explored.longest, run.steps());
    explored.failure = run.failure();
    if (runs == search.limit) explored.failure += "more schedules than the limit";
  } while (explored.failure.empty() && all.Next());
  return explored;
}

Explored Explore(const RandomSearch& search, const std::function<void()>& program) {
  Explored explored;
  std::mt19937_64 seeds(search.seed);
  for (; explored.schedules < search.runs && explored.failure.empty(); ++explored.schedules) {
    RandomSchedule random(seeds(), search.depth, explored.longest);
    Run run(random, false, search.spurious_wakeups);
    run.Execute(program);
    explored.longest = std::max(explored.longest, run.steps());
    explored.failure = run.failure();
  }
  return explored;
}

void Fail(const std::string& message) { Run::Current()->Fail(message); }

std::uint64_t Step(const void* object) { return Run::Current()->Step(object); }

std::vector<std::uint64_t> PopLockSteps() { return Run::Current()->PopLockSteps(); }

void AwaitAsleep(std::size_t threads) {
  while (Run::Current()->Asleep() < threads) Run::Current()->Yield();
}

}  // namespace kopp::proof
