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

bool Notifies(const Transition& way) {
  return way.op == Op::kNotifyOne || way.op == Op::kNotifyAll;
}

/// Whether the two, both possible now, lead to the same in either order.
bool Independent(const Transition& a, const Transition& b) {
  if (a.fiber == b.fiber || a.op == Op::kYield || b.op == Op::kYield) return false;
  if (a.op == Op::kJoin || b.op == Op::kJoin) return true;
  if (a.op == Op::kAsleep && b.op == Op::kAsleep) return false;  // both draw on the allowance
  if (a.object == b.object) {
    return Notifies(a) && Notifies(b) && a.sleepers == 0 && b.sleepers == 0;
  }
  return a.object != b.mutex && a.mutex != b.object;
}

/// Depth first: runs the same program again and again, each time with the last choice changed that
/// can still be changed. Leaves out what differs only in the order of independent steps ("sleep
/// sets"), or what has too many preemptions.
class AllSchedules final : public Chooser {
 public:
  explicit AllSchedules(std::optional<int> preemptions) : preemptions_(preemptions) {}

  std::size_t Choose(const std::vector<Transition>& ways, std::size_t last) override {
    if (depth_ == branches_.size()) Push(ways, last);
    Branch& branch = branches_[depth_++];
    const auto at = std::find(ways.begin(), ways.end(), branch.chosen);
    if (at == ways.end()) throw std::logic_error("the program does not do the same each time");
    return static_cast<std::size_t>(at - ways.begin());
  }

  /// Whether there is one more schedule, which the next run will take.
  bool Next() {
    while (!branches_.empty()) {
      Branch& branch = branches_.back();
      branch.asleep.push_back(branch.chosen);
      if (!branch.left.empty()) {
        branch.chosen = branch.left.back();
        branch.left.pop_back();
        break;
      }
      branches_.pop_back();
    }
    depth_ = 0;
    repeats_ = false;
    return !branches_.empty();
  }

  /// Whether this run turned out to be the same as an earlier one, in another order.
  [[nodiscard]] bool repeats() const { return repeats_; }

 private:
  struct Branch {
    Transition chosen;
    std::vector<Transition> left;    // to be chosen yet
    std::vector<Transition> asleep;  // explored already, here or before something independent
    std::size_t last = 0;
    bool last_can_go_on = false;
    int preemptions = 0;  // before this
  };

  static bool Preempts(const Branch& branch, const Transition& way) {
    return branch.last_can_go_on && way.fiber != branch.last && way.op != Op::kAsleep;
  }

  void Push(const std::vector<Transition>& ways, std::size_t last) {
    Branch branch;
    branch.last = last;
    branch.last_can_go_on = std::any_of(ways.begin(), ways.end(), [&](const auto& way) {
      return way.fiber == last && way.op != Op::kAsleep && way.op != Op::kYield;
    });
    if (!branches_.empty()) {
      const Branch& before = branches_.back();
      branch.preemptions = before.preemptions + (Preempts(before, before.chosen) ? 1 : 0);
      if (!preemptions_) {
        for (const Transition& way : before.asleep) {
          if (Independent(way, before.chosen)) branch.asleep.push_back(way);
        }
      }
    }
    for (const Transition& way : ways) {
      if (preemptions_ && branch.preemptions == *preemptions_ && Preempts(branch, way)) continue;
      const bool asleep = std::any_of(branch.asleep.begin(), branch.asleep.end(),
                                      [&](const auto& other) { return Same(way, other); });
      if (!asleep) branch.left.push_back(way);
    }
    repeats_ = repeats_ || branch.left.empty();
    if (repeats_) {  // to the end somehow
      branch.left.clear();
      branch.chosen = ways.front();
    } else {
      branch.chosen = branch.left.back();
      branch.left.pop_back();
    }
    branches_.push_back(std::move(branch));
  }

  static bool Same(const Transition& a, const Transition& b) {
    return a.fiber == b.fiber && a.op == b.op && a.pick == b.pick;
  }

  std::optional<int> preemptions_;
  std::vector<Branch> branches_;
  std::size_t depth_ = 0;
  bool repeats_ = false;
};

/// Threads have priorities, given at random; at some steps, chosen at random, the one that would go
/// on falls below all others.
class RandomSchedule final : public Chooser {
 public:
  RandomSchedule(std::uint64_t seed, int depth, std::uint64_t length) : random_(seed) {
    std::uniform_int_distribution<std::uint64_t> step(0, std::max<std::uint64_t>(length, 1));
    for (int i = 1; i < depth; ++i) falls_.insert(step(random_));
  }

  std::size_t Choose(const std::vector<Transition>& ways, std::size_t) override {
    if (falls_.contains(step_++)) priorities_[ways[Highest(ways)].fiber] = lowest_--;
    const std::size_t fiber = ways[Highest(ways)].fiber;
    std::vector<std::size_t> its;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const bool luck = ways[i].op == Op::kAsleep && random_() % 8 == 0;
      if (ways[i].fiber == fiber || luck) its.push_back(i);
    }
    return its[random_() % its.size()];
  }

 private:
  std::size_t Highest(const std::vector<Transition>& ways) {
    std::size_t highest = 0;
    for (std::size_t i = 1; i < ways.size(); ++i) {
      if (ways[i].op == Op::kAsleep) continue;
      const bool first = ways[highest].op == Op::kAsleep;
      if (first || PriorityOf(ways[i].fiber) > PriorityOf(ways[highest].fiber)) highest = i;
    }
    return highest;
  }

  std::int64_t PriorityOf(std::size_t fiber) {
    const auto [known, is_new] = priorities_.try_emplace(fiber);
    if (is_new) known->second = static_cast<std::int64_t>(random_() >> 2);
    return known->second;
  }

  std::mt19937_64 random_;
  std::set<std::uint64_t> falls_;
  std::map<std::size_t, std::int64_t> priorities_;
  std::int64_t lowest_ = -1;
  std::uint64_t step_ = 0;
};

}  // namespace

Explored Explore(const Search& search, const std::function<void()>& program) {
  Explored explored;
  AllSchedules all(search.preemptions);
  std::uint64_t runs = 0;
  do {
    Run run(all, search.at_unlock, search.spurious_wakeups);
    run.Execute(program);
    ++runs;
    if (!all.repeats()) ++explored.schedules;
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

void Fail(const std::string& what) { Run::Current()->Fail(what); }

std::uint64_t Step(const void* object) { return Run::Current()->Step(object); }

std::vector<std::uint64_t> TakeLockSteps() { return Run::Current()->TakeLockSteps(); }

void AwaitAsleep(std::size_t threads) {
  while (Run::Current()->Asleep() < threads) Run::Current()->Yield();
}

}  // namespace kopp::proof
