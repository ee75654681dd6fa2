#include "explore/simulation.hpp"

#include "explore/final_state.hpp"
#include "explore/requests.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stop_token>
#include <utility>

#include <kopp/informer/detail/exception_text.hpp>

namespace kopp::apiserver::explore {

using testing::Invariant;
using testing::ScenarioStep;

// Retries after a shorter time come before delayed events.
constexpr Duration kRetryTime = std::chrono::seconds(1);
// Controllers with a longer resync period must not depend on it.
constexpr Duration kMaxResync = std::chrono::minutes(10);
// Events are not held back longer: a cache is not stale for ever.
constexpr std::size_t kMaxHeldReconciles = 8;
// Calls of Scenario::other_controllers that write, without a reconcile in between.
constexpr std::size_t kMaxOtherWrites = 1'000;

/// The transport of the scenario's functions: their writes are part of the story and are checked by
/// the invariants.
class Simulation::TestTransport final : public Transport {
 public:
  explicit TestTransport(Simulation& simulation) : simulation_(simulation) {}
  ApiResponse Call(const ApiRequest& request, std::stop_token /*stop*/) override {
    return simulation_.Execute(request, simulation_.actor_);
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    return simulation_.cluster_.transport().Open(request, std::move(stop));
  }

 private:
  Simulation& simulation_;
};

Simulation::Simulation(const ExplorePlan& plan, const Schedule& schedule, RunMode mode)
    : plan_(plan),
      mode_(mode),
      cluster_(plan.options.seed, plan.options.name,
               [this](const testing::WebhookCall& call) { return CallWebhook(call); }),
      test_transport_(std::make_unique<TestTransport>(*this)) {
  for (const Disturbance& disturbance : schedule) schedule_.push_back({disturbance});
}

Simulation::~Simulation() = default;

RunResult Simulation::Run() {
  for (const std::string& definition : plan_.definitions) cluster_.CreateCrd(definition);
  cluster_.Install(plan_.manifests);
  if (plan_.has_webhooks) ServeWebhooks();
  if (plan_.scenario.start) Act(plan_.scenario.start);
  RunSteps();
  process_.reset();
  if (plan_.scenario.outside_state) result_.outside = plan_.scenario.outside_state();
  result_.state = FinalState(cluster_.context(), plan_.scenario.normalize);
  for (const Pending& pending : schedule_) {
    if (!pending.applied && result_.not_applied.empty()) {
      result_.not_applied = ToString({pending.disturbance});
    }
  }
  return std::move(result_);
}

void Simulation::RunSteps() {
  for (;;) {
    RunUntilIdle();
    if (!result_.problem.empty() || result_.skipped) return;
    if (Applies(Type::kRestart, step_ + 1, "the process is restarted")) {
      process_.reset();
      continue;
    }
    if (!HasSteps() && !down_) return;
    if (HasSteps()) TakeStep();
    down_ = false;
  }
}

void Simulation::RunUntilIdle() {
  while (Progress()) {
    if (!result_.problem.empty() || result_.skipped) return;
    if (other_writes_ > kMaxOtherWrites) {
      result_.problem =
          "The run does not end: check that Scenario::other_controllers writes only what "
          "differs.\n";
      return;
    }
    if (reconciles_ <= plan_.options.max_reconciles) continue;
    result_.problem = "The operator does not converge: it was still busy after " +
                      std::to_string(reconciles_) + " reconciles.\n";
    return;
  }
}

bool Simulation::Progress() {
  try {
    return DoNext();
  } catch (const ProcessEnded&) {  // in a call of a map function or of an informer
    return true;
  }
}

bool Simulation::DoNext() {
  if (!process_ || process_->ended()) {
    if (Restart()) return true;
    return RunOtherControllers();
  }
  return DeliverEvent() || ReconcileNext() || RunOtherControllers() || AdvanceToTimer(kRetryTime) ||
         ReleaseEvents() || SendLateRequest() || AdvanceToTimer(Duration::max()) || Resync();
}

/// Starts the operator for the first time, or again after its end, unless it is down.
bool Simulation::Restart() {
  if (process_) Tell("the process has ended; what it had in memory is lost");
  process_.reset();
  if (down_) return false;
  process_ = std::make_unique<OperatorProcess>(
      cluster_, plan_.setup, plan_.options,
      [this](OperatorProcess& process, const ApiRequest& request) {
        return OnCall(process, request);
      });
  Tell(std::string("the operator starts and lists its objects") +
       (stale_at_ ? " as they were before its last write" : ""));
  const bool is_stale = stale_at_.has_value();
  process_->Start(std::exchange(stale_at_, std::nullopt));
  for (CacheView& view : process_->views()) {
    if (is_stale && view.HasPending()) HoldEvents(view, Type::kDelay);
  }
  return true;
}

/// Returns the view with the oldest event that may be delivered, or null.
CacheView* Simulation::NextView() {
  CacheView* next = nullptr;
  for (CacheView& view : process_->views()) {
    if (!view.HasPending() || view.hold != CacheView::Hold::kNone) continue;
    if (next == nullptr || view.NextVersion() < next->NextVersion()) next = &view;
  }
  return next;
}

bool Simulation::DeliverEvent() {
  CacheView* const view = NextView();
  if (view == nullptr) return false;
  ++events_;
  if (mode_ == RunMode::kTrace) result_.events.push_back({step_});
  for (const Type type : {Type::kDelay, Type::kHold, Type::kHoldStep, Type::kGap}) {
    if (!Applies(type, events_, "the events of " + view->kind().plural + " do not arrive now")) {
      continue;
    }
    HoldEvents(*view, type);
    return true;
  }
  Tell("event " + std::to_string(events_) + " for the cache: " + view->kind().plural + ' ' +
       view->DescribeNext());
  process_->Deliver(*view);
  return true;
}

void Simulation::HoldEvents(CacheView& view, Type type) {
  using Hold = CacheView::Hold;
  view.hold = type == Type::kDelay      ? Hold::kDelay
              : type == Type::kHold     ? Hold::kHold
              : type == Type::kHoldStep ? Hold::kHoldStep
                                        : Hold::kGap;
  view.held_at_step = step_;
  view.held_reconciles = 0;
}

bool Simulation::ReconcileNext() {
  const auto work = process_->TakeWork();
  if (!work) return false;
  ++reconciles_;
  other_writes_ = 0;
  const std::string name = process_->NameOf(*work) + ' ' + work->key.ToString();
  Tell("the operator reconciles " + name);
  const OperatorProcess::Outcome outcome = process_->Reconcile(*work);
  if (process_->ended()) return true;
  if (!outcome.error.empty()) Tell("the reconcile of " + name + " fails: " + outcome.error);
  if (outcome.defeats_backoff) {
    result_.problem = "The back-off of " + name +
                      " is defeated: nothing but its own writes cut short several delays in a row "
                      "after failures. Write with Context::client, so that its events are known "
                      "to be own ones.\n";
    return true;
  }
  for (CacheView& view : process_->views()) {
    const bool one_only = view.hold == CacheView::Hold::kDelay;
    if (one_only || ++view.held_reconciles >= kMaxHeldReconciles) EndHold(view);
  }
  return true;
}

bool Simulation::RunOtherControllers() {
  if (!plan_.scenario.other_controllers) return false;
  const ResourceVersion before = cluster_.version();
  actor_ = "another controller";
  Act(plan_.scenario.other_controllers);
  if (cluster_.version() == before) return false;
  ++other_writes_;
  return true;
}

bool Simulation::ReleaseEvents() {
  return std::ranges::any_of(process_->views(),
                             [&](CacheView& view) { return ReleaseEvents(view); });
}

/// Ends the hold of a view if nothing else happens any more. Returns whether it has ended.
bool Simulation::ReleaseEvents(CacheView& view) {
  using Hold = CacheView::Hold;
  if (view.hold == Hold::kNone) return false;
  if (view.hold == Hold::kHoldStep && view.held_at_step == step_ && HasSteps()) return false;
  EndHold(view);
  return true;
}

void Simulation::EndHold(CacheView& view) {
  using Hold = CacheView::Hold;
  if (view.hold == Hold::kNone) return;
  const bool is_gap = std::exchange(view.hold, Hold::kNone) == Hold::kGap;
  Tell("the cache of " + view.kind().plural +
       (is_gap ? " has lost events and lists again" : " receives its events again"));
  if (is_gap) process_->Relist(view);
}

bool Simulation::SendLateRequest() {
  if (!late_ || (late_->after_step && late_->step == step_ && HasSteps())) return false;
  const LateRequest late = std::move(*late_);
  late_.reset();
  Tell("** the request of the former leader arrives only now:");
  static_cast<void>(Execute(late.request, "the former leader"));
  return true;
}

/// Reconciles the next key that waits for a time, unless it has to wait longer than `limit`.
bool Simulation::AdvanceToTimer(Duration limit) {
  const TimePoint next = process_->NextTimer();
  if (next == TimePoint::max()) return false;
  const Duration wait = next - cluster_.clock().Now();
  if (wait > limit) return false;
  if (wait > Duration::zero()) cluster_.clock().Advance(wait);
  process_->FireTimers();
  return true;
}

/// Lets the controllers with a short resync period reconcile all objects, once after the last
/// write.
bool Simulation::Resync() {
  if (resynced_at_ == cluster_.version()) return false;
  resynced_at_ = cluster_.version();
  const TimePoint now = cluster_.clock().Now();
  TimePoint next = TimePoint::max();
  for (CacheView& view : process_->views())
    next = std::min(next, process_->RunPeriodicWork(view, now));
  if (next == TimePoint::max() || next - now > kMaxResync) return true;  // some may have been due
  Tell("the controllers resync");
  cluster_.clock().Advance(next - now);
  for (CacheView& view : process_->views()) process_->RunPeriodicWork(view, next);
  return true;
}

void Simulation::TakeStep() {
  const ScenarioStep& step = plan_.scenario.steps[step_++];
  Tell("STEP: " + step.name);
  actor_ = "the test";
  resynced_at_ = 0;  // the step may change what is outside of the server
  try {
    Act(step.act);
  } catch (const std::exception& error) {
    const bool moved = std::ranges::any_of(schedule_, [](const Pending& pending) {
      const Type type = pending.disturbance.type;
      return type == Type::kDownBefore || type == Type::kDownAfter || type == Type::kStepBefore ||
             type == Type::kHoldStep || type == Type::kLeaderStep;
    });
    if (!result_.problem.empty()) return;  // the step violated an invariant
    result_.skipped = moved;
    if (!moved) result_.problem = "The step \"" + step.name + "\" failed: " + error.what();
  }
  if (process_ && !process_->ended()) process_->ResumeIdleTimers();
}

void Simulation::Act(const std::function<void(const Client&)>& act) {
  if (!act) return;
  act(Client(*test_transport_, "test").WithFieldValidation(kopp::FieldValidation::kStrict));
}

ApiResponse Simulation::OnCall(OperatorProcess& process, const ApiRequest& request) {
  if (!result_.problem.empty()) process.End();
  const std::size_t call = ++calls_;
  if (mode_ == RunMode::kTrace) {
    result_.calls.push_back({request.method, IsWrite(request), step_, DescribeState(), {}});
  }
  DisturbBefore(process, request, call);
  if (auto error = ErrorResponse(request, call)) return std::move(*error);
  const ResourceVersion before = cluster_.version();
  in_operator_call_ = true;
  ApiResponse response = Execute(request, "call " + std::to_string(call));
  in_operator_call_ = false;
  process.OnWritten(before, cluster_.version());
  if (mode_ == RunMode::kTrace) result_.calls.back().state_after = DescribeState();
  if (Applies(Type::kCrashStale, call, "the process crashes after this call")) {
    stale_at_ = before;
    process.End();
  }
  DisturbAfter(process, request, call);
  const bool written = IsWrite(request) && response.status < 300;
  if (written) CheckForLoop(request, response);
  if (written && plan_.options.cache.own_writes_timeout > Duration::zero()) {
    DeliverOwnWrite(request);
  }
  return response;
}

/// A write loop would end when max_reconciles is exceeded. It is reported earlier, with its cause.
void Simulation::CheckForLoop(const ApiRequest& request, const ApiResponse& response) {
  if (request.method != "PUT" && request.method != "PATCH") return;
  const auto loop = loops_.OnWrite(request.target, response.body);
  if (!loop || !result_.problem.empty()) return;
  result_.problem =
      "The operator writes the same fields of " + loop->kind.kind + ' ' + loop->key.ToString() +
      " back and forth (field managers: " + loop->WriterList() + "): " + loop->FieldList() + "\n";
}

/// Delivers the events of the written kind: a read of the operator would wait for them.
void Simulation::DeliverOwnWrite(const ApiRequest& request) {
  ForEachView(request, [&](CacheView& view) {
    EndHold(view);
    while (view.HasPending()) process_->Deliver(view);
  });
}

void Simulation::ForEachView(const ApiRequest& request,
                             const std::function<void(CacheView&)>& visit) {
  const RequestInfo target = ParseRequestInfo(request.target);
  for (CacheView& view : process_->views()) {
    if (view.kind().plural == target.plural && view.kind().group() == target.group) visit(view);
  }
}

ApiResponse Simulation::Execute(const ApiRequest& request, const std::string& actor) {
  const ResourceVersion before = cluster_.version();
  ApiResponse response = cluster_.transport().Call(request);
  if (mode_ == RunMode::kStory && (IsWrite(request) || actor.starts_with("call"))) {
    Tell(actor + ": " + DescribeRequest(request) + " → " + DescribeResponse(request, response));
  }
  if (cluster_.version() == before) return response;
  if (process_ && !process_->ended()) process_->ReceiveEvents();
  CheckInvariants();
  return response;
}

/// Returns how the invariant is violated, or "". An exception must not reach the operator, in whose
/// call it is checked.
std::string Simulation::ProblemOf(const Invariant& invariant, const Client& client) {
  try {
    const std::string problem = invariant.check(client);
    return problem.empty() ? "" : "is violated: " + problem;
  } catch (const std::exception& error) {
    return "threw an exception: " + detail::ExceptionText(error);
  }
}

void Simulation::CheckInvariants() {
  if (!result_.problem.empty()) return;
  const Client client(cluster_.transport(), "test");
  for (const Invariant& invariant : plan_.scenario.invariants) {
    const std::string problem = ProblemOf(invariant, client);
    if (problem.empty()) continue;
    result_.problem = "The invariant \"" + invariant.name + "\" " + problem;
    Tell(result_.problem);
    return;
  }
}

void Simulation::Tell(const std::string& line) {
  if (mode_ == RunMode::kStory) result_.story.push_back(line);
}

/// Returns a text that is equal for two moments of the undisturbed run if a process that starts at
/// these moments behaves equally.
std::string Simulation::DescribeState() {
  const auto& outside = plan_.scenario.outside_state;
  const auto time = cluster_.context().clock().Now().time_since_epoch().count();
  return std::to_string(cluster_.version()) + '/' + std::to_string(time) + '/' +
         std::to_string(step_) + '/' + (outside ? outside() : "");
}

}  // namespace kopp::apiserver::explore
