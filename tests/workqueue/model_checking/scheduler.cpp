#include "scheduler.hpp"

#include "fibers.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

namespace kopp::model_checking {
namespace {

bool IsNotification(const Transition& step) {
  return step.op == Op::kNotifyOne || step.op == Op::kNotifyAll;
}

/// Returns whether two steps that are both possible now have the same effect in either order.
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

/// A depth-first search. Each run of the program changes the last choice that has an untried
/// alternative. Omits schedules with too many preemptions. If the number of preemptions is not
/// limited, also omits schedules that differ only in the order of independent steps (sleep sets).
class ExhaustiveSearch final : public Strategy {
 public:
  explicit ExhaustiveSearch(std::optional<int> max_preemptions)
      : max_preemptions_(max_preemptions) {}

  std::size_t Choose(const std::vector<Transition>& choices, std::size_t last_fiber) override {
    if (depth_ == branches_.size()) PushBranch(choices, last_fiber);
    const Branch& branch = branches_[depth_++];
    const auto choice = std::find(choices.begin(), choices.end(), branch.chosen);
    if (choice == choices.end()) {
      throw std::logic_error("the program under test is not deterministic: in step " +
                             std::to_string(depth_) +
                             ", an earlier run had a choice that this run does not have. Remove "
                             "random numbers, clocks "
                             "and state that survives a run.");
    }
    return static_cast<std::size_t>(choice - choices.begin());
  }

  /// Backtracks to the last branch with an untried transition. Returns false if all schedules have
  /// run.
  bool Backtrack() {
    while (!branches_.empty()) {
      Branch& branch = branches_.back();
      branch.sleep_set.push_back(branch.chosen);
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

  /// Whether this run was equivalent to an earlier run.
  [[nodiscard]] bool is_redundant() const { return is_redundant_; }

 private:
  struct Branch {
    Transition chosen;
    std::vector<Transition> untried;
    // The transitions whose schedules were already run, from here or in an equivalent order.
    std::vector<Transition> sleep_set;
    std::size_t last_fiber = 0;
    bool last_fiber_can_continue = false;
    int preemptions = 0;  // the number of preemptions before this branch
  };

  static bool Preempts(const Branch& branch, const Transition& choice) {
    return branch.last_fiber_can_continue && choice.fiber != branch.last_fiber &&
           choice.op != Op::kAsleep;
  }

  /// Creates the branch for the next step.
  void PushBranch(const std::vector<Transition>& choices, std::size_t last_fiber) {
    Branch branch;
    branch.last_fiber = last_fiber;
    branch.last_fiber_can_continue =
        std::any_of(choices.begin(), choices.end(), [&](const auto& choice) {
          return choice.fiber == last_fiber && choice.op != Op::kAsleep && choice.op != Op::kYield;
        });
    if (!branches_.empty()) {
      const Branch& parent = branches_.back();
      branch.preemptions = parent.preemptions + (Preempts(parent, parent.chosen) ? 1 : 0);
      if (!max_preemptions_) {
        for (const Transition& choice : parent.sleep_set) {
          if (Independent(choice, parent.chosen)) branch.sleep_set.push_back(choice);
        }
      }
    }
    for (const Transition& choice : choices) {
      if (max_preemptions_ && branch.preemptions == *max_preemptions_ && Preempts(branch, choice))
        continue;
      const bool in_sleep_set =
          std::any_of(branch.sleep_set.begin(), branch.sleep_set.end(),
                      [&](const auto& other) { return IsSameStep(choice, other); });
      if (!in_sleep_set) branch.untried.push_back(choice);
    }
    is_redundant_ = is_redundant_ || branch.untried.empty();
    if (is_redundant_) {  // finish the run with arbitrary choices
      branch.untried.clear();
      branch.chosen = choices.front();
    } else {
      branch.chosen = branch.untried.back();
      branch.untried.pop_back();
    }
    branches_.push_back(std::move(branch));
  }

  /// Compares only the fields that identify a step. The number of sleepers can differ between runs.
  static bool IsSameStep(const Transition& a, const Transition& b) {
    return a.fiber == b.fiber && a.op == b.op && a.pick == b.pick;
  }

  std::optional<int> max_preemptions_;
  std::vector<Branch> branches_;
  std::size_t depth_ = 0;
  bool is_redundant_ = false;
};

/// A strategy for probabilistic concurrency testing (PCT). Each fiber has a random priority; the
/// fiber with the highest priority runs. At `depth` - 1 random steps the running fiber gets the
/// lowest priority.
class RandomSchedule final : public Strategy {
 public:
  RandomSchedule(std::uint64_t seed, int depth, std::uint64_t expected_steps) : random_(seed) {
    std::uniform_int_distribution<std::uint64_t> step(0,
                                                      std::max<std::uint64_t>(expected_steps, 1));
    for (int i = 1; i < depth; ++i) demotion_steps_.insert(step(random_));
  }

  std::size_t Choose(const std::vector<Transition>& choices, std::size_t) override {
    if (demotion_steps_.contains(step_++))
      priorities_[choices[IndexOfHighestPriority(choices)].fiber] = lowest_--;
    const std::size_t fiber = choices[IndexOfHighestPriority(choices)].fiber;
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const bool spurious = choices[i].op == Op::kAsleep && random_() % 8 == 0;
      if (choices[i].fiber == fiber || spurious) candidates.push_back(i);
    }
    return candidates[random_() % candidates.size()];
  }

 private:
  std::size_t IndexOfHighestPriority(const std::vector<Transition>& choices) {
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

ExplorationResult Explore(const ExhaustiveSearchOptions& options,
                          const std::function<void()>& program) {
  ExplorationResult result;
  ExhaustiveSearch strategy(options.max_preemptions);
  std::uint64_t runs = 0;
  bool has_next = true;
  while (has_next && result.failure.empty()) {
    if (runs == options.max_runs) {
      result.failure = "stopped after " + std::to_string(runs) +
                       " runs (max_runs): make the program smaller, set max_preemptions, or raise "
                       "the limit";
      break;
    }
    Run run(strategy, options.at_unlock, options.max_spurious_wakeups);
    run.Execute(program);
    ++runs;
    if (!strategy.is_redundant()) ++result.schedules;
    result.max_steps = std::max(result.max_steps, run.steps());
    result.failure = run.failure();
    has_next = strategy.Backtrack();
  }
  return result;
}

ExplorationResult Explore(const RandomSearchOptions& options,
                          const std::function<void()>& program) {
  ExplorationResult result;
  std::mt19937_64 seeds(options.seed);
  for (; result.schedules < options.runs && result.failure.empty(); ++result.schedules) {
    RandomSchedule strategy(seeds(), options.depth, result.max_steps);
    Run run(strategy, false, options.max_spurious_wakeups);
    run.Execute(program);
    result.max_steps = std::max(result.max_steps, run.steps());
    result.failure = run.failure();
  }
  return result;
}

void ReportFailure(const std::string& message) { Run::Current()->ReportFailure(message); }

std::uint64_t SchedulingPoint(const void* object) { return Run::Current()->Step(object); }

std::vector<std::uint64_t> PopLockSteps() { return Run::Current()->PopLockSteps(); }

void AwaitBlockedThreads(std::size_t count) {
  while (Run::Current()->NumSleepers() < count) Run::Current()->Yield();
}

}  // namespace kopp::model_checking
