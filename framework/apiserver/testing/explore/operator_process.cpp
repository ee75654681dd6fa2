#include "explore/operator_process.hpp"

#include "cache/cache_impl.hpp"
#include "controller/controller_queue.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stop_token>
#include <string_view>

#include <kopp/informer/api_error.hpp>
#include <kopp/informer/detail/exception_text.hpp>

namespace kopp::apiserver::explore {
namespace {

using namespace std::chrono_literals;

// A key whose reconciles have changed nothing so often is not tried again until something changes.
constexpr int kMaxRoundsWithoutEffect = 10;
constexpr Duration kFirstBackoff = 5ms;
constexpr Duration kMaxBackoff = 1000s;
// A write whose response was lost may cut short a delay; more are a fault.
constexpr std::size_t kMaxCutDelays = 3;

Logger SilentLog(Clock& clock) {
  return Logger({.verbosity = -1, .write = [](std::string_view) {}, .clock = clock});
}

Options ManagerOptions(const testing::ExploreOptions& options, const Logger& log,
                       std::shared_ptr<Transport> transport, Clock& clock) {
  Options result{.name = options.name,
                 .cache = options.cache,
                 .field_validation = kopp::FieldValidation::kStrict,
                 .retry = {.max_tries = 1},  // each fault reaches the reconciler
                 .log = log,
                 .transport = std::move(transport),
                 .clock = clock};
  result.cache.manual = true;
  result.cache.own_writes_timeout = {};  // the simulation delivers own writes; nothing may wait
  return result;
}

}  // namespace

/// Passes calls to the handler, and the lists and watches of the cache to the server.
class OperatorProcess::CountingTransport final : public Transport {
 public:
  explicit CountingTransport(OperatorProcess& process) : process_(process) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token /*stop*/) override {
    RequireRunning();
    return process_.on_call_(process_, request);
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    RequireRunning();
    return process_.cluster_.transport().Open(request, std::move(stop));
  }

 private:
  void RequireRunning() const {
    if (process_.ended_) throw ProcessEnded{};
  }

  OperatorProcess& process_;
};

/// Accepts the Events of the operator: they have no influence on a run, and another thread writes
/// them.
class OperatorProcess::DiscardingTransport final : public Transport {
 public:
  ApiResponse Call(const ApiRequest& request, std::stop_token /*stop*/) override {
    return {.status = 201, .body = request.body};
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token /*stop*/) override {
    throw TransportError(TransportError::Kind::kUnreachable, request.target);
  }
};

OperatorProcess::OperatorProcess(SimulatedCluster& cluster, const testing::OperatorSetup& setup,
                                 const testing::ExploreOptions& options, CallHandler on_call)
    : cluster_(cluster),
      on_call_(std::move(on_call)),
      transport_(std::make_shared<CountingTransport>(*this)),
      events_transport_(std::make_unique<DiscardingTransport>()),
      log_(SilentLog(cluster.clock())),
      manager_(ManagerOptions(options, log_, transport_, cluster.clock())),
      events_(Client(*events_transport_, options.name), options.name, log_, Clock::Real()) {
  setup(manager_);
  for (Controller* controller : manager_.Controllers()) {
    controllers_.push_back(&Controller::Impl::Of(*controller));
    controllers_.back()->RequireReconciler();
  }
  const Client client =
      Client(*transport_, options.name).WithFieldValidation(kopp::FieldValidation::kStrict);
  for (const Controller::Impl* controller : controllers_) {
    clients_.push_back(controller->ClientOf(client, controllers_));
  }
  for (const auto& informer : Cache::Impl::Of(manager_.cache()).ManualInformers()) {
    views_.emplace_back(informer);
  }
}

OperatorProcess::~OperatorProcess() = default;

void OperatorProcess::Start(std::optional<ResourceVersion> at) {
  for (CacheView& view : views_) view.List(at);
}

void OperatorProcess::Relist(CacheView& view) {
  ++all_events_;
  view.List();
}

void OperatorProcess::Deliver(CacheView& view) {
  ++all_events_;
  const auto writer = writers_.find(view.NextVersion());
  if (writer != writers_.end()) ++own_events_[writer->second];
  view.Deliver();
}

TimePoint OperatorProcess::RunPeriodicWork(CacheView& view, TimePoint now) {
  ++all_events_;
  return view.RunPeriodicWork(now);
}

void OperatorProcess::OnWritten(ResourceVersion before, ResourceVersion last) {
  if (!running_) return;
  while (before < last) writers_[++before] = *running_;
}

/// Returns the number of events so far that the writes of the key have not caused.
std::size_t OperatorProcess::ForeignEvents(const Work& work) const {
  const auto own = own_events_.find(work);
  return all_events_ - (own == own_events_.end() ? 0 : own->second);
}

void OperatorProcess::ReceiveEvents() {
  for (CacheView& view : views_) view.Receive();
}

void OperatorProcess::End() {
  ended_ = true;
  throw ProcessEnded{};
}

std::optional<OperatorProcess::Work> OperatorProcess::TakeWork() {
  for (std::size_t i = 0; i < controllers_.size(); ++i) {
    auto& queue = controllers_[i]->queue();
    if (queue.Len() == 0) continue;
    if (const auto next = queue.Get()) return Work{i, *next};
  }
  return std::nullopt;
}

OperatorProcess::Outcome OperatorProcess::Reconcile(const Work& work) {
  KeyState& state = keys_[work];
  const bool waits = state.failed && (timers_.contains(work) || state.failures == 0);
  const bool is_cut = waits && ForeignEvents(work) == state.foreign_events;
  state.cut_delays = is_cut ? state.cut_delays + 1 : 0;
  state.foreign_events = ForeignEvents(work);
  timers_.erase(work);
  idle_timers_.erase(work);
  running_ = work;
  Outcome outcome = Call(work, state);
  running_.reset();
  if (ended_) return outcome;
  outcome.defeats_backoff = state.cut_delays >= kMaxCutDelays;
  controllers_[work.controller]->queue().Done(work.key);
  const ResourceVersion version = cluster_.version();
  state.rounds_without_effect = version == state.version ? state.rounds_without_effect + 1 : 0;
  state.version = version;
  state.last_error = outcome.error;
  Schedule(work, state, outcome);
  return outcome;
}

OperatorProcess::Outcome OperatorProcess::Call(const Work& work, KeyState& state) {
  OwnEvents::Scope writes(controllers_[work.controller]->own_events(), work.key);
  Outcome outcome =
      CallWith(WithWriteListener(clients_[work.controller], writes.listener()), work, state);
  writes.End(/*succeeded=*/!state.failed);
  return outcome;
}

/// Calls the reconcile function, and counts its failures.
OperatorProcess::Outcome OperatorProcess::CallWith(const Client& client, const Work& work,
                                                   KeyState& state) {
  Context context{.key = work.key,
                  .client = client,
                  .cache = manager_.cache(),
                  .events = events_,
                  .log = log_,
                  .stop = {},
                  .clock = cluster_.clock(),
                  .reconcile_id = "explore",
                  .retries = state.failures,
                  .last_error = state.last_error};
  Outcome outcome;
  state.failed = true;
  try {
    const Result result = controllers_[work.controller]->reconciler()(work.key, context);
    const bool is_overdue = result.requeue_after < Duration::zero();
    if (is_overdue || (result.requeue_after == Duration::zero() && result.backoff)) {
      outcome.next = NextBackoff(state);
      return outcome;
    }
    state.failures = 0;
    state.failed = false;
    if (result.requeue_after > Duration::zero()) outcome.next = result.requeue_after;
    return outcome;
  } catch (const ProcessEnded&) {
    return {};
  } catch (const TerminalError& error) {
    state.failures = 0;
    return {.error = error.what()};
  } catch (const ApiError& error) {
    outcome.error = error.what();
    outcome.next = error.retry_after().value_or(Duration::zero());
  } catch (const std::exception& error) {
    outcome.error = detail::ExceptionText(error);
  } catch (...) {
    outcome.error = "an object that is not a std::exception";
  }
  outcome.next = std::max(outcome.next.value_or(Duration::zero()), NextBackoff(state));
  return outcome;
}

Duration OperatorProcess::NextBackoff(KeyState& state) const {
  constexpr int kMaxDoublings = 20;
  const int doublings = std::min(state.failures++, kMaxDoublings);
  return std::min(kMaxBackoff, kFirstBackoff * (1 << doublings));
}

void OperatorProcess::Schedule(const Work& work, KeyState& state, const Outcome& outcome) {
  if (!outcome.next) return;
  if (state.rounds_without_effect >= kMaxRoundsWithoutEffect) {
    idle_timers_[work] = *outcome.next;
  } else {
    timers_[work] = SaturatingAdd(cluster_.clock().Now(), *outcome.next);
  }
}

TimePoint OperatorProcess::NextTimer() const {
  TimePoint next = TimePoint::max();
  for (const auto& [work, time] : timers_) next = std::min(next, time);
  return next;
}

void OperatorProcess::FireTimers() {
  const TimePoint now = cluster_.clock().Now();
  for (auto timer = timers_.begin(); timer != timers_.end();) {
    const auto current = timer++;
    if (current->second > now) continue;
    controllers_[current->first.controller]->queue().Add(current->first.key);
    timers_.erase(current);
  }
}

void OperatorProcess::ResumeIdleTimers() {
  for (const auto& [work, delay] : idle_timers_) {
    keys_[work].rounds_without_effect = 0;
    timers_[work] = SaturatingAdd(cluster_.clock().Now(), delay);
  }
  idle_timers_.clear();
}

}  // namespace kopp::apiserver::explore
