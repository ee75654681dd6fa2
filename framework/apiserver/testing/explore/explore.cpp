#include "base/environment.hpp"
#include "explore/disturbance.hpp"
#include "explore/final_state.hpp"
#include "explore/simulation.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <kopp/testing/explore.hpp>

namespace kopp::testing {
namespace {

using apiserver::explore::Disturbance;
using apiserver::explore::RunMode;
using apiserver::explore::RunResult;
using apiserver::explore::Schedule;

RunResult RunOnce(const apiserver::explore::ExplorePlan& plan, const Schedule& schedule,
                  RunMode mode) {
  return apiserver::explore::Simulation(plan, schedule, mode).Run();
}

/// Calls the setup of the operator, and sets the members of `plan` that depend on it. The
/// definitions are without those that the manifests contain.
void ReadSetup(apiserver::explore::ExplorePlan& plan) {
  std::set<std::string> names;
  for (const auto& manifest : plan.manifests.base) {
    names.insert(manifest.object.value("/metadata/name"_json_pointer, ""));
  }
  apiserver::explore::SimulatedCluster cluster(plan.options.seed, plan.options.name);
  apiserver::explore::OperatorProcess process(
      cluster, plan.setup, plan.options,
      [](apiserver::explore::OperatorProcess&, const ApiRequest& request) -> ApiResponse {
        throw std::runtime_error("the setup of the operator calls the API server: " +
                                 request.method + ' ' + request.target);
      });
  for (const CustomResourceDefinition& crd : process.Crds()) {
    if (!names.contains(crd.name())) plan.definitions.push_back(crd.ToJson());
  }
  plan.has_webhooks = !process.webhooks().empty();
}

apiserver::explore::ExplorePlan PlanOf(const Scenario& scenario, const OperatorSetup& setup,
                                       const ExploreOptions& options) {
  apiserver::explore::ExplorePlan plan{scenario, setup, options,
                                       apiserver::ReadManifests(scenario.manifests)};
  ReadSetup(plan);
  return plan;
}

std::string Numbered(const std::vector<std::string>& lines) {
  constexpr std::size_t kFirst = 80;
  constexpr std::size_t kLast = 40;
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == kFirst && lines.size() > kFirst + kLast) {
      i = lines.size() - kLast;
      text += "      …\n";
    }
    std::string number = std::to_string(i + 1);
    number.insert(0, number.size() < 4 ? 4 - number.size() : 0, ' ');
    text += number + ". " + lines[i] + '\n';
  }
  return text;
}

bool IsDefaultSeed(std::uint64_t seed) { return seed == ExploreOptions{}.seed; }

/// Returns $KOPP_EXPLORE_SEED, or nullopt if it is not set. Throws std::invalid_argument.
std::optional<std::uint64_t> SeedFromEnvironment() {
  const std::optional<std::string> text = kopp::detail::EnvironmentVariable("KOPP_EXPLORE_SEED");
  if (!text) return std::nullopt;
  std::uint64_t seed = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, seed);
  if (error == std::errc() && rest == end && seed != 0) return seed;
  throw std::invalid_argument("KOPP_EXPLORE_SEED=\"" + *text +
                              "\": the seed must be an integer from 1 to 18446744073709551615");
}

/// A part of the disturbed runs. Several processes explore all parts at the same time.
struct Shard {
  std::size_t number = 1;
  std::size_t count = 1;
  [[nodiscard]] bool Has(std::size_t run) const { return run % count == number - 1; }
};

/// Returns $KOPP_EXPLORE_SHARD, "NUMBER/COUNT", or one shard if it is not set. Throws
/// std::invalid_argument.
Shard ShardFromEnvironment() {
  const std::optional<std::string> text = kopp::detail::EnvironmentVariable("KOPP_EXPLORE_SHARD");
  if (!text) return {};
  Shard shard;
  const char* const end = text->data() + text->size();
  const auto number = std::from_chars(text->data(), end, shard.number);
  if (number.ec == std::errc() && number.ptr != end && *number.ptr == '/') {
    const auto count = std::from_chars(number.ptr + 1, end, shard.count);
    const bool is_valid = count.ec == std::errc() && count.ptr == end;
    if (is_valid && shard.number >= 1 && shard.number <= shard.count) return shard;
  }
  throw std::invalid_argument("KOPP_EXPLORE_SHARD=\"" + *text +
                              "\": write NUMBER/COUNT, for example 1/4 to 4/4");
}

constexpr std::size_t kUndisturbedRuns = 2;

/// Runs the schedules and collects findings.
class Explorer {
 public:
  Explorer(const Scenario& scenario, const OperatorSetup& setup, const ExploreOptions& options,
           Shard shard = {})
      : options_(options),
        shard_(shard),
        plan_(PlanOf(scenario, setup, options)),
        started_(Clock::Real().Now()) {}

  ExploreResult Explore();
  ExploreResult Replay(const Schedule& schedule);

 private:
  using Type = Disturbance::Type;

  bool RunUndisturbed();
  RunResult Check(const Schedule& schedule);
  /// Checks the schedule if it belongs to the shard and there is time.
  void CheckInShard(const Schedule& schedule);
  [[nodiscard]] std::string StoryOf(const Schedule& schedule) const;
  [[nodiscard]] std::string ProblemOf(const RunResult& run) const;
  [[nodiscard]] std::vector<Disturbance> Singles();
  void AddCallDisturbances(std::vector<Disturbance>& all);
  void AddUnlessPruned(std::vector<Disturbance>& all, Disturbance disturbance,
                       const std::string& state);
  void ExplorePairs(const std::vector<Disturbance>& singles);
  void RequireAllRuns();
  [[nodiscard]] bool HasEnough() const { return result_.findings.size() >= options_.max_findings; }
  [[nodiscard]] bool IsOverdue() const {
    return Clock::Real().Now() - started_ >= options_.time_limit;
  }
  ExploreResult Finish();

  const ExploreOptions& options_;
  const Shard shard_;
  std::size_t planned_ = 0;  // disturbed runs of all shards
  const apiserver::explore::ExplorePlan plan_;
  const TimePoint started_;
  RunResult undisturbed_;
  std::set<std::string> restart_states_;  // in which a run has started the operator again
  ExploreResult result_;
};

/// Returns whether the undisturbed run has no problem. Throws if it is not deterministic.
bool Explorer::RunUndisturbed() {
  undisturbed_ = RunOnce(plan_, {}, RunMode::kTrace);
  const RunResult again = RunOnce(plan_, {}, RunMode::kTrace);
  result_.runs += kUndisturbedRuns;
  if (undisturbed_.problem != again.problem || undisturbed_.state != again.state ||
      undisturbed_.outside != again.outside || undisturbed_.calls.size() != again.calls.size()) {
    throw std::runtime_error(
        "Explore: two undisturbed runs differ, so no disturbance can be judged: let the operator "
        "take times from Context::clock and no random numbers, and let Scenario::start reset all "
        "state outside of the API server\n" +
        apiserver::explore::DescribeDifference(undisturbed_.state, again.state));
  }
  if (undisturbed_.problem.empty()) return true;
  result_.findings.push_back({.problem = undisturbed_.problem, .story = StoryOf({})});
  return false;
}

/// Repeats a run and returns its story.
std::string Explorer::StoryOf(const Schedule& schedule) const {
  return Numbered(RunOnce(plan_, schedule, RunMode::kStory).story);
}

/// Returns what is wrong with a run, or "".
std::string Explorer::ProblemOf(const RunResult& run) const {
  if (!run.problem.empty()) return run.problem;
  if (run.skipped) return {};
  std::string problem;
  if (run.state != undisturbed_.state) {
    problem += "The final objects differ:\n" +
               apiserver::explore::DescribeDifference(undisturbed_.state, run.state);
  }
  if (run.outside != undisturbed_.outside) {
    problem += "The state outside of the API server differs:\n  " + undisturbed_.outside +
               " in the undisturbed run\n  " + run.outside + " in this run\n";
  }
  return problem;
}

/// Runs the schedule, and adds a finding if the run has a problem. Returns the run.
RunResult Explorer::Check(const Schedule& schedule) {
  RunResult run = RunOnce(plan_, schedule, RunMode::kPlain);
  ++result_.runs;
  if (run.skipped) ++result_.skipped;
  const std::string problem = ProblemOf(run);
  if (problem.empty()) return run;
  result_.findings.push_back({.schedule = apiserver::explore::ToString(schedule),
                              .problem = problem,
                              .story = StoryOf(schedule)});
  return run;
}

void Explorer::CheckInShard(const Schedule& schedule) {
  if (!shard_.Has(planned_++)) return;
  if (IsOverdue()) {
    ++result_.missing;
  } else {
    Check(schedule);
  }
}

/// Adds a disturbance that starts the operator again, unless another one does so in the same state
/// of the undisturbed run: what follows is equal.
void Explorer::AddUnlessPruned(std::vector<Disturbance>& all, Disturbance disturbance,
                               const std::string& state) {
  if (restart_states_.insert(state).second) {
    all.push_back(disturbance);
  } else {
    ++result_.pruned;
  }
}

void Explorer::AddCallDisturbances(std::vector<Disturbance>& all) {
  const std::size_t steps = plan_.scenario.steps.size();
  std::size_t number = 0;
  for (const apiserver::explore::TracedCall& call : undisturbed_.calls) {
    ++number;
    const bool has_steps = call.step < steps;
    AddUnlessPruned(all, {Type::kCrashBefore, number}, call.state_before);
    if (has_steps) AddUnlessPruned(all, {Type::kDownBefore, number}, "down" + call.state_before);
    for (const Type type : {Type::kTimeout, Type::kError}) all.push_back({type, number});
    if (!call.is_write) continue;
    AddUnlessPruned(all, {Type::kCrashAfter, number}, call.state_after);
    if (has_steps) AddUnlessPruned(all, {Type::kDownAfter, number}, "down" + call.state_after);
    if (!options_.cache.consistent_start) all.push_back({Type::kCrashStale, number});
    if (call.method != "POST") all.push_back({Type::kConflict, number});
    for (const Type type : {Type::kThrottle, Type::kReset, Type::kLostResponse}) {
      all.push_back({type, number});
    }
    if (has_steps) all.push_back({Type::kStepBefore, number});
    if (!options_.late_requests) continue;
    all.push_back({Type::kLeader, number});
    if (has_steps) all.push_back({Type::kLeaderStep, number});
  }
}

std::vector<Disturbance> Explorer::Singles() {
  std::vector<Disturbance> all;
  AddCallDisturbances(all);
  std::size_t number = 0;
  for (const apiserver::explore::TracedEvent& event : undisturbed_.events) {
    ++number;
    for (const Type type : {Type::kDelay, Type::kHold, Type::kGap}) all.push_back({type, number});
    if (event.step < plan_.scenario.steps.size()) all.push_back({Type::kHoldStep, number});
  }
  for (std::size_t call = 1; call <= undisturbed_.webhook_calls; ++call) {
    for (const Type type :
         {Type::kWebhookTimeout, Type::kWebhookRefused, Type::kWebhookDenied, Type::kWebhookSlow}) {
      all.push_back({type, call});
    }
  }
  for (std::size_t step = 1; step <= plan_.scenario.steps.size() + 1; ++step) {
    all.push_back({Type::kRestart, step});
  }
  return all;
}

void Explorer::ExplorePairs(const std::vector<Disturbance>& singles) {
  if (singles.size() < 2) return;
  std::mt19937_64 random(options_.seed);
  for (std::size_t i = 0; i < options_.pairs && !HasEnough(); ++i) {
    Schedule pair{singles[random() % singles.size()], singles[random() % singles.size()]};
    CheckInShard(pair);
  }
}

ExploreResult Explorer::Explore() {
  if (!RunUndisturbed()) return Finish();
  const std::vector<Disturbance> singles = Singles();
  for (const Disturbance& disturbance : singles) {
    if (HasEnough()) break;
    CheckInShard({disturbance});
  }
  const bool is_explored = result_.runs > kUndisturbedRuns || result_.missing == 0;
  // A pair with a disturbance that fails alone says nothing new.
  if (result_.findings.empty()) ExplorePairs(singles);
  if (!is_explored) {
    result_.findings.push_back(
        {.problem = "Nothing was explored: raise ExploreOptions::time_limit.\n"});
  } else {
    RequireAllRuns();
  }
  return Finish();
}

/// Adds a finding if runs are missing, unless the options accept that or there is a finding.
void Explorer::RequireAllRuns() {
  if (result_.missing == 0 || options_.accept_missing || !result_.findings.empty()) return;
  using Milliseconds = std::chrono::milliseconds;
  const auto limit = std::chrono::duration_cast<Milliseconds>(options_.time_limit).count();
  result_.findings.push_back(
      {.problem = "The exploration is not complete: " + std::to_string(result_.missing) + " of " +
                  std::to_string(result_.runs + result_.missing) +
                  " runs did not start within ExploreOptions::time_limit (" +
                  std::to_string(limit) +
                  " ms). Raise it, explore fewer pairs or a shorter scenario, or set "
                  "ExploreOptions::accept_missing.\n"});
}

ExploreResult Explorer::Replay(const Schedule& schedule) {
  if (!RunUndisturbed() || schedule.empty()) return Finish();
  const RunResult run = Check(schedule);
  if (!result_.findings.empty()) return Finish();
  if (!run.not_applied.empty() || run.skipped) {
    result_.findings.push_back(
        {.schedule = apiserver::explore::ToString(schedule),
         .problem = run.skipped ? "A step was not possible at its time: explore again.\n"
                                : "The run has no place for " + run.not_applied +
                                      ": explore again, and use a new schedule.\n"});
  }
  return Finish();
}

ExploreResult Explorer::Finish() {
  std::ranges::stable_sort(result_.findings, {}, [](const Finding& finding) {
    return std::ranges::count(finding.story, '\n');
  });
  result_.time = Clock::Real().Now() - started_;
  result_.seed = options_.seed;
  return std::move(result_);
}

}  // namespace

ExploreResult Explore(const Scenario& scenario, const OperatorSetup& setup,
                      const ExploreOptions& options) {
  ExploreOptions seeded = options;
  if (const auto seed = SeedFromEnvironment(); seed && IsDefaultSeed(options.seed)) {
    seeded.seed = *seed;
  }
  return Explorer(scenario, setup, seeded, ShardFromEnvironment()).Explore();
}

ExploreResult Replay(const Scenario& scenario, const OperatorSetup& setup,
                     std::string_view schedule, const ExploreOptions& options) {
  return Explorer(scenario, setup, options).Replay(apiserver::explore::ParseSchedule(schedule));
}

std::string ExploreResult::ToString() const {
  const double seconds = std::chrono::duration<double>(time).count();
  std::string text =
      std::to_string(runs) + " runs in " + std::to_string(static_cast<int>(seconds * 1000)) +
      " ms (" +
      std::to_string(static_cast<int>(static_cast<double>(runs) / std::max(seconds, 1e-6))) +
      " a second), " + std::to_string(pruned) + " pruned, " + std::to_string(skipped) +
      " skipped, " + std::to_string(missing) + " missing\n";
  if (findings.empty()) return text;
  const Finding& first = findings.front();
  if (first.story.empty()) return text + first.problem;  // no run failed
  text += first.schedule.empty()
              ? "The undisturbed run fails:\n"
              : "The operator fails with the schedule \"" + first.schedule + "\":\n";
  text += first.story + first.problem + '\n';
  for (std::size_t i = 1; i < findings.size(); ++i) {
    text += "It also fails with \"" + findings[i].schedule + "\": " + findings[i].problem + '\n';
  }
  const std::string replay_options =
      IsDefaultSeed(seed) ? "" : ", {.seed = " + std::to_string(seed) + '}';
  return text + "Regression test:\n  EXPECT_TRUE(kopp::testing::Replay(scenario, setup, \"" +
         first.schedule + '"' + replay_options + "));\n";
}

}  // namespace kopp::testing
