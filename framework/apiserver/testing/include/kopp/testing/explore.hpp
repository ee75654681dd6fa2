#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/manager.hpp>
#include <kopp/testing/wait_result.hpp>

namespace kopp::testing {

/// A change that users make: an object is created, changed or deleted.
struct ScenarioStep {
  std::string name = {};  ///< a sentence for the story: "the user deletes the Foo"
  std::function<void(const Client& client)> act = {};
};

/// A condition that must hold after each write to the API server.
struct Invariant {
  std::string name = {};  ///< "at most one Deployment"
  /// Returns the violation, or "". `client` must only be used to read. An exception is a violation.
  std::function<std::string(const Client& client)> check = {};
};

/// What happens to an operator in a run of Explore. All functions are called in the thread of
/// Explore, in each run from the start. What they capture must outlive the call of Explore.
struct Scenario {
  /// Files or folders that are applied first, as by Environment::Install. The definitions of the
  /// kinds with KOPP_CRD are installed without them.
  std::vector<std::filesystem::path> manifests = {};
  /// Creates the objects that exist before the operator starts. Resets all state outside of the API
  /// server that the scenario has, such as a fake cloud. May be empty.
  std::function<void(const Client& client)> start = {};
  /// Each step is taken when the operator has nothing left to do.
  std::vector<ScenarioStep> steps = {};
  /// Does what other controllers would do, for example sets the status of a Deployment. Called when
  /// the operator has nothing to do. It must write only what differs. May be empty.
  std::function<void(const Client& client)> other_controllers = {};
  std::vector<Invariant> invariants = {};
  /// Returns the state outside of the API server as text, for example the buckets of a fake cloud.
  /// It must be the same at the end of each run. May be empty.
  std::function<std::string()> outside_state = {};
  /// Removes what may differ at the end of a run from an object. Always ignored: uids, resource
  /// versions, generated names, times, managedFields, Events and Leases. May be empty.
  std::function<void(nlohmann::json& object)> normalize = {};
};

/// Adds the controllers and webhooks of an operator to a manager that is never run. Called at each
/// start of the operator, so what it creates is lost in a crash. If there are webhooks, it is also
/// called once for a replica that only serves them and never crashes.
using OperatorSetup = std::function<void(Manager& manager)>;

struct ExploreOptions {
  std::string name = "operator";  ///< of the operator, as EnvironmentOptions::name
  /// Of the operator. With `own_writes_timeout` 0, reads may miss the operator's own writes. With
  /// `consistent_start`, the first lists after a restart are never stale.
  CacheOptions cache = {};
  /// Of uids, generated names and the selection of pairs: the same seed gives the same runs.
  /// Explore uses $KOPP_EXPLORE_SEED, a positive integer, in place of the default.
  std::uint64_t seed = 1;
  /// Whether a request of a former leader may arrive late (`leader:N`). The write fence of kopp's
  /// leader election prevents this, except for a request that was on its way for 5 seconds.
  bool late_requests = true;
  std::size_t pairs = 100;  ///< random pairs of disturbances, after all single ones
  /// No further run starts after this real time. Explore fails if runs are missing then: what it
  /// has not explored, it cannot judge.
  Duration time_limit = std::chrono::minutes(2);
  /// Whether runs that `time_limit` prevents are no failure. ExploreResult::missing counts them.
  /// Explore fails nevertheless if the limit ends it before the first disturbance.
  bool accept_missing = false;
  std::size_t max_findings = 3;      ///< Explore ends after so many
  std::size_t max_reconciles = 300;  ///< of a run; after more, the operator does not converge
};

/// A run that differs from the undisturbed run, or violates an invariant; or, without a story, the
/// reason why the exploration is not complete.
struct Finding {
  std::string schedule = {};  ///< for Replay: "crash-after:3", or "" for the undisturbed run
  std::string problem = {};   ///< the invariant, or the differences to the undisturbed run
  std::string story = {};     ///< what happened, in numbered lines
};

/// The result of Explore and Replay: success, or findings. It converts to bool and to GoogleTest's
/// AssertionResult, and operator<< writes ToString().
struct ExploreResult {
  std::vector<Finding> findings = {};  ///< the one with the shortest story first
  std::size_t runs = 0;
  std::size_t pruned = 0;   ///< single disturbances that have the effect of another one
  std::size_t skipped = 0;  ///< runs in which a step was not possible at its time
  std::size_t missing = 0;  ///< runs that ExploreOptions::time_limit prevented
  std::uint64_t seed = 1;   ///< of the runs; Replay needs it
  Duration time = {};       ///< of all runs, real time

  explicit operator bool() const { return findings.empty(); }
  /// Returns the number of runs and, after a failure, the shortest story, the schedules of the
  /// other findings and a regression test.
  [[nodiscard]] std::string ToString() const;

  template <detail::AssertionResult R>
  operator R() const {  // NOLINT: implicit on purpose, for EXPECT_TRUE
    R result(findings.empty());
    result << ToString();
    return result;
  }
  friend std::ostream& operator<<(std::ostream& out, const ExploreResult& result) {
    return out << result.ToString();
  }
};

/// Finds bugs of an operator: runs it in a scenario once undisturbed, then once with each
/// disturbance at each place, then with random pairs of disturbances. Each run must end in the
/// state of the undisturbed run and must respect the invariants. It is a finding, too, if the own
/// writes of an operator cut short several delays after failures in a row.
///
///     EXPECT_TRUE(kopp::testing::Explore(
///         {.steps = {{"the user creates a Foo", CreateFoo}, {"the user deletes it", DeleteFoo}}},
///         [](kopp::Manager& manager) {
///           manager.AddController<Foo>().Owns<kopp::Deployment>().Reconcile(Reconcile);
///         }));
///
/// The disturbances, each with its name in a schedule. N is the number of a call of the operator's
/// client, of an event for its cache, of a step, or of a call of its webhooks for its own writes:
///
/// | schedule | disturbance |
/// |---|---|
/// | `crash-before:N`, `crash-after:N` | the process ends at call N and starts again |
/// | `down-before:N`, `down-after:N` | it starts again after the next step of the scenario |
/// | `crash-stale:N` | it ends after call N, and its first lists lack the write |
/// | `restart:N` | it ends and starts again before step N, when it has nothing to do |
/// | `conflict:N`, `throttle:N`, `error:N` | call N gets 409, 429 or 500 |
/// | `timeout:N`, `reset:N` | call N fails without an effect |
/// | `lost-response:N` | call N times out with an effect, whose event is delayed |
/// | `step-before:N` | the next step of the scenario is taken before call N |
/// | `leader:N` | another replica becomes the leader; call N arrives when that is idle |
/// | `leader-step:N` | the same; call N arrives after the next step |
/// | `delay:N` | the events of a kind, from N on, are delayed by one reconcile |
/// | `hold:N` | they are held back until nothing else happens, or for 8 reconciles |
/// | `hold-step:N` | the same until after the next step |
/// | `gap:N` | they are lost, and the cache lists again when nothing else happens |
/// | `webhook-timeout:N`, `webhook-refused:N` | call N of a webhook fails |
/// | `webhook-denied:N` | the webhook denies the write |
/// | `webhook-slow:N` | it answers one second before its time limit |
///
/// A run is a simulation in the calling thread with a FakeClock: it has no real time and no
/// randomness, so a schedule always gives the same run. Reads contain the operator's own writes.
/// Reconcile functions must not wait. Controllers with ControllerOptions::sync_period of at most 10
/// minutes resync when nothing else happens; others must not depend on it. These parts of a manager
/// do not run: runnables, channels and other event sources, added clusters, pauses, max_interval
/// and time limits of reconciles. CacheOptions::start_informers_on_read has no effect.
///
/// Throws std::invalid_argument if $KOPP_EXPLORE_SEED is not a positive integer, std::runtime_error
/// if the undisturbed run is not the same twice or a manifest is not valid, ApiError if the
/// definition of a watched kind is missing, and what Scenario::start, Scenario::other_controllers,
/// Scenario::outside_state, Scenario::normalize and `setup` throw.
[[nodiscard]] ExploreResult Explore(const Scenario& scenario, const OperatorSetup& setup,
                                    const ExploreOptions& options = {});

/// Repeats one run of Explore: a regression test for a finding. `schedule` is one or more
/// disturbances of the table, separated by '+'. Fails if one of them has no effect because its
/// call, event or step does not occur any more. Throws std::invalid_argument for another text.
[[nodiscard]] ExploreResult Replay(const Scenario& scenario, const OperatorSetup& setup,
                                   std::string_view schedule, const ExploreOptions& options = {});

}  // namespace kopp::testing
