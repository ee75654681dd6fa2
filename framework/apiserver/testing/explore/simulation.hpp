#pragma once

#include "client/write_loop_detector.hpp"
#include "environment/operator_webhooks.hpp"
#include "explore/disturbance.hpp"
#include "explore/operator_process.hpp"
#include "explore/simulated_cluster.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/testing/explore.hpp>

namespace kopp::apiserver::explore {

/// The state that all runs of an Explore share.
struct ExplorePlan {
  const testing::Scenario& scenario;
  const testing::OperatorSetup& setup;
  const testing::ExploreOptions& options;
  Manifests manifests{};
  std::vector<std::string> definitions{};  ///< the CustomResourceDefinitions of the setup, as JSON
  bool has_webhooks = false;               ///< of the setup
};

/// A call of the operator's client in the undisturbed run.
struct TracedCall {
  std::string method{};
  bool is_write = false;
  std::size_t step = 0;        ///< the next step of the scenario
  std::string state_before{};  ///< identifies the state of server, time and outside, see Simulation
  std::string state_after{};
};

/// An event for the cache in the undisturbed run.
struct TracedEvent {
  std::size_t step = 0;
};

/// The result of a run.
struct RunResult {
  std::string problem{};      ///< a violated invariant or another failure; empty: none
  bool skipped = false;       ///< a step was not possible at its time
  std::string not_applied{};  ///< the first disturbance whose place did not occur, or ""
  nlohmann::json state{};
  std::string outside{};
  std::vector<TracedCall> calls{};    ///< only with RunMode::kTrace
  std::vector<TracedEvent> events{};  ///< only with RunMode::kTrace
  std::size_t webhook_calls = 0;      ///< for writes of the operator
  std::vector<std::string> story{};   ///< only with RunMode::kStory
};

enum class RunMode { kPlain, kTrace, kStory };

/// One run of the operator in the scenario, with the disturbances of a schedule. Single-threaded
/// and deterministic.
class Simulation {
 public:
  /// `plan` must outlive the simulation.
  Simulation(const ExplorePlan& plan, const Schedule& schedule, RunMode mode);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  /// Call it once.
  RunResult Run();

 private:
  using Type = Disturbance::Type;
  class TestTransport;
  struct Pending {
    Disturbance disturbance{};
    bool applied = false;
  };
  /// A request of a former leader that has not arrived yet.
  struct LateRequest {
    ApiRequest request{};
    bool after_step = false;
    std::size_t step = 0;
  };

  void RunSteps();
  void RunUntilIdle();
  /// Does the next thing that can happen without a step of the scenario. Returns false if nothing
  /// is left.
  bool Progress();
  bool DoNext();
  bool Restart();
  bool DeliverEvent();
  bool ReconcileNext();
  bool RunOtherControllers();
  bool ReleaseEvents();
  bool ReleaseEvents(CacheView& view);
  void EndHold(CacheView& view);
  bool Resync();
  bool SendLateRequest();
  bool AdvanceToTimer(Duration limit);
  void TakeStep();
  void Act(const std::function<void(const Client&)>& act);

  ApiResponse OnCall(OperatorProcess& process, const ApiRequest& request);
  void DisturbBefore(OperatorProcess& process, const ApiRequest& request, std::size_t call);
  std::optional<ApiResponse> ErrorResponse(const ApiRequest& request, std::size_t call);
  void DisturbAfter(OperatorProcess& process, const ApiRequest& request, std::size_t call);
  ApiResponse Execute(const ApiRequest& request, const std::string& actor);
  void ServeWebhooks();
  /// Calls a webhook for a write, with the disturbances of the schedule if the write is one of the
  /// operator. The same as a testing::WebhookCaller.
  std::string CallWebhook(testing::WebhookCall call);
  /// Calls `visit` for each view of the kind of a request.
  void ForEachView(const ApiRequest& request, const std::function<void(CacheView&)>& visit);
  void DeliverOwnWrite(const ApiRequest& request);
  void CheckForLoop(const ApiRequest& request, const ApiResponse& response);
  [[nodiscard]] CacheView* NextView();
  void HoldEvents(CacheView& view, Type type);

  /// Returns whether the schedule has this disturbance and it has not been applied yet; it then
  /// counts as applied, and the story gets `text`.
  bool Applies(Type type, std::size_t at, const std::string& text);
  [[nodiscard]] static std::string ProblemOf(const testing::Invariant& invariant,
                                             const Client& client);
  void CheckInvariants();
  void Tell(const std::string& line);
  [[nodiscard]] std::string DescribeState();
  [[nodiscard]] bool HasSteps() const { return step_ < plan_.scenario.steps.size(); }

  const ExplorePlan& plan_;
  const RunMode mode_;
  std::vector<Pending> schedule_;
  SimulatedCluster cluster_;
  kopp::detail::WriteLoopDetector loops_{cluster_.clock()};
  std::unique_ptr<TestTransport> test_transport_;
  std::string actor_ = "the test";
  RunResult result_;

  OperatorWebhooks webhooks_{cluster_.clock()};
  /// Serves the webhooks: another replica, which does not crash and reconciles nothing. Null if the
  /// operator has no webhooks.
  std::unique_ptr<OperatorProcess> webhook_process_;
  bool in_operator_call_ = false;

  std::unique_ptr<OperatorProcess> process_;  // null while it is down
  bool down_ = false;                         // until the next step
  std::optional<ResourceVersion> stale_at_;   // of the first lists after the next start
  std::optional<LateRequest> late_;
  ResourceVersion resynced_at_ = 0;
  std::size_t step_ = 0;  // the number of steps that were taken
  std::size_t calls_ = 0;
  std::size_t events_ = 0;
  std::size_t reconciles_ = 0;
  std::size_t other_writes_ = 0;  // of other controllers since the last reconcile
};

}  // namespace kopp::apiserver::explore
