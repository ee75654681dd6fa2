#include "reconcile_runner.hpp"

#include "base/uuid.hpp"
#include "client/read_scope.hpp"
#include "pause.hpp"
#include "reconcile_span.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include <kopp/informer/detail/exception_text.hpp>
#include <kopp/informer/handlers.hpp>

namespace kopp {
namespace {

constexpr Duration kDelayAfterFailure = std::chrono::seconds(1);

/// Counts a worker as active while it exists.
class ActiveWorker {
 public:
  explicit ActiveWorker(ReconcileMetrics* metrics) : metrics_(metrics) {
    if (metrics_ != nullptr) metrics_->AddActive(1);
  }
  ~ActiveWorker() {
    if (metrics_ != nullptr) metrics_->AddActive(-1);
  }
  ActiveWorker(const ActiveWorker&) = delete;
  ActiveWorker& operator=(const ActiveWorker&) = delete;

 private:
  ReconcileMetrics* metrics_;
};

}  // namespace

/// One try to reconcile an object.
struct ReconcileRunner::Attempt {
  const Client& client;
  const QueuedKey& next;
  const std::stop_token& stop;
  std::string id;
  FailingKeys::Entry history;
  std::optional<Duration> queue_wait;
  const ReconcileSpan& span;
  Logger log;
};

ReconcileRunner::ReconcileRunner(Queue& queue, Options options, const Dependencies& dependencies)
    : queue_(queue),
      options_(std::move(options)),
      dependencies_(dependencies),
      log_(dependencies.log, options_.kind.kind),
      owner_check_({.owner = options_.kind,
                    .find = [this](const ObjectKey& key) { return Find(key); },
                    .watches = options_.watches,
                    .log = dependencies.log}) {
  const bool has_max_interval = options_.max_interval > Duration::zero();
  if (!has_max_interval && options_.reconcile_timeout <= Duration::zero()) return;
  timers_ = std::make_unique<TimerQueue>(dependencies_.clock);
  if (!has_max_interval) return;
  const auto enqueue = [this](const ObjectKey& key) {
    queue_.Add(key, {.priority = informer::kLowPriority,
                     .payload = PayloadOf(Reason::Type::kMaxInterval)});
  };
  const auto exists = [this](const ObjectKey& key) { return static_cast<bool>(Find(key)); };
  max_interval_.emplace(options_.max_interval, *timers_, dependencies_.clock,
                        MaxInterval::Functions{.enqueue = enqueue, .exists = exists});
}

void ReconcileRunner::Process(const QueuedKey& next, const std::stop_token& stop) {
  constexpr std::string_view kMessage = "Cannot finish a reconcile, retrying in 1 s";
  try {
    ProcessOrThrow(next, stop);
  } catch (const std::exception& error) {
    RequeueAfterFailure(next.item, kMessage, error.what());
  } catch (...) {
    RequeueAfterFailure(next.item, kMessage, "an object that is not a std::exception");
  }
}

void ReconcileRunner::ProcessOrThrow(const QueuedKey& next, const std::stop_token& stop) {
  if (IsPaused(next.item)) {
    log_.Paused(next.item);
    options_.failing.Erase(next.item);
    options_.own_events.Forget(next.item);
    return queue_.Forget(next.item);
  }
  if (max_interval_) max_interval_->OnStarted(next.item);
  const ActiveWorker active(options_.metrics);
  const std::string id = detail::RandomUuid();
  const auto history = options_.failing.Find(next.item);
  const auto queue_wait = options_.track_times ? std::optional(next.waited) : std::nullopt;
  const ReconcileSpan span(options_.tracer, {.controller = options_.controller,
                                             .field_manager = dependencies_.client.field_manager(),
                                             .key = next.item,
                                             .id = id,
                                             .retries = history.retries,
                                             .queue_wait = queue_wait,
                                             .reasons = next.payload.reasons});
  OwnEvents::Scope writes(options_.own_events, next.item);
  const Client client = WithWriteListener(dependencies_.client, writes.listener());
  const Attempt attempt{.client = client,
                        .next = next,
                        .stop = stop,
                        .id = id,
                        .history = history,
                        .queue_wait = queue_wait,
                        .span = span,
                        .log = span.With(log_.ForReconcile(next.item, id))};
  log_.Started(attempt.log, attempt.history.retries, attempt.queue_wait);
  const ReconcileOutcome outcome = Call(attempt);
  log_.Ended(attempt.log, outcome);
  if (outcome.foreign_object) RecordForeignObject(next.item, outcome.error.message);
  CallErrorHook(attempt, outcome);
  span.End(outcome);
  counts_.Add(outcome);
  Remember(attempt, outcome);
  Notify(attempt, outcome);
  writes.End(/*succeeded=*/!outcome.IsFailure());
  Requeue(next, outcome);
  if (max_interval_) max_interval_->OnReconciled(next.item);
}

/// Returns an empty AnyObject also if the cache cannot be read, because the view was removed.
informer::AnyObject ReconcileRunner::Find(const ObjectKey& key) const {
  try {
    return options_.find(key);
  } catch (const std::exception&) {
    return {};
  }
}

bool ReconcileRunner::IsPaused(const ObjectKey& key) const {
  if (options_.pause_annotation.empty()) return false;
  const informer::AnyObject object = Find(key);
  return object && IsPausedBy(options_.pause_annotation, object.metadata());
}

ReconcileLimits ReconcileRunner::NewCall(const Attempt& attempt, RunningReconciles* running) const {
  ReconcileLimits::Options limits{.running = running};
  if (const Duration timeout = options_.reconcile_timeout; timeout > Duration::zero()) {
    limits.timers = timers_.get();
    limits.deadline = SaturatingAdd(dependencies_.clock.Now(), timeout);
  }
  return {attempt.client, attempt.stop, attempt.next.item, limits};
}

Context ReconcileRunner::NewContext(const Attempt& attempt, const Client& client,
                                    std::stop_token stop) const {
  return {.key = attempt.next.item,
          .client = client,
          .cache = dependencies_.cache,
          .events = *events_,
          .log = attempt.log,
          .stop = std::move(stop),
          .clock = dependencies_.clock,
          .reconcile_id = attempt.id,
          .retries = attempt.history.retries,
          .last_error = attempt.history.last_error,
          .queue_wait = attempt.queue_wait,
          .reasons = attempt.next.payload.reasons,
          .span = attempt.span.get(),
          .is_superseded = [this, &key = attempt.next.item] { return HasNewerEvent(queue_, key); }};
}

ReconcileOutcome ReconcileRunner::Call(const Attempt& attempt) const {
  using std::chrono::milliseconds;
  ReconcileLimits call = NewCall(attempt, options_.running);
  const std::optional<Client> traced = attempt.span.With(call.client());
  Context context = NewContext(attempt, traced ? *traced : call.client(), call.stop());
  if (!context.reasons.empty()) log_.Triggered(attempt.log, context.reasons);
  const ReadScope reads(context.client.stop());
  const OwnerCheckScope writes(owner_check_, attempt.next.item);
  const TimePoint started = dependencies_.clock.Now();
  auto outcome = CallReconciler(options_.reconcile, attempt.next.item, context, attempt.stop);
  outcome.duration = dependencies_.clock.Now() - started;
  outcome.timed_out = call.EndDeadline();
  if (outcome.result == ReconcileResult::kError && call.superseded()) {
    outcome.result = ReconcileResult::kRequeue;
    outcome.superseded = true;
    outcome.foreign_object = false;
    return outcome;
  }
  if (outcome.timed_out && outcome.result == ReconcileResult::kError) {
    const auto timeout = std::chrono::ceil<milliseconds>(options_.reconcile_timeout);
    outcome.error.timed_out = true;
    outcome.error.message += " (the reconcile exceeded its reconcile_timeout of " +
                             std::to_string(timeout.count()) + " ms)";
  }
  return outcome;
}

void ReconcileRunner::RecordForeignObject(const ObjectKey& key, std::string_view message) const {
  const informer::AnyObject object = Find(key);
  if (!object) return;
  events_->Warning(ReferenceTo(options_.kind, object.metadata()), "ErrResourceExists", message);
}

void ReconcileRunner::CallErrorHook(const Attempt& attempt, const ReconcileOutcome& outcome) const {
  if (!options_.on_error || outcome.result != ReconcileResult::kError || outcome.expected) return;
  constexpr std::string_view kMessage = "The function on_error of the controller threw";
  try {
    const ReconcileLimits call = NewCall(attempt, nullptr);
    const std::optional<Client> traced = attempt.span.With(call.client());
    Context context = NewContext(attempt, traced ? *traced : call.client(), call.stop());
    const ReadScope reads(context.client.stop());
    options_.on_error(outcome.error, context);
  } catch (const std::exception& error) {
    attempt.log.Error(kMessage, {{"err", detail::ExceptionText(error)}});
  } catch (...) {
    attempt.log.Error(kMessage, {{"err", "an object that is not a std::exception"}});
  }
}

/// Stores the retries and the last error for the Context of the key's next reconcile. A superseded
/// reconcile changes nothing.
void ReconcileRunner::Remember(const Attempt& attempt, const ReconcileOutcome& outcome) {
  if (outcome.superseded) return;
  const ObjectKey& key = attempt.next.item;
  const int retries = attempt.history.retries + 1;
  switch (outcome.result) {
    case ReconcileResult::kSuccess:
    case ReconcileResult::kRequeueAfter:
      return options_.failing.Erase(key);
    case ReconcileResult::kRequeue:
      return options_.failing.Set(key, {.retries = retries});
    case ReconcileResult::kError:
      if (outcome.error.terminal) return options_.failing.Set(key, {.threw = true});
      return options_.failing.Set(
          key, {.retries = retries, .last_error = outcome.error.message, .threw = true});
  }
}

void ReconcileRunner::Notify(const Attempt& attempt, const ReconcileOutcome& outcome) const {
  if (options_.metrics == nullptr && options_.observers.empty()) return;
  const std::string error = outcome.error.ToString();
  const ReconcileEvent event{.controller = options_.controller,
                             .key = attempt.next.item,
                             .reconcile_id = attempt.id,
                             .queue_wait = attempt.queue_wait,
                             .result = outcome.result,
                             .error = error,
                             .retries = attempt.history.retries,
                             .terminal = outcome.error.terminal,
                             .panic = outcome.panic,
                             .timed_out = outcome.timed_out,
                             .duration = outcome.duration,
                             .reasons = attempt.next.payload.reasons};
  if (options_.metrics != nullptr) options_.metrics->Observe(event);
  for (const ReconcileObserver& observer : options_.observers) {
    try {
      observer(event);
    } catch (...) {  // NOLINT(bugprone-empty-catch): see ReconcileObserver
    }
  }
}

void ReconcileRunner::Requeue(const QueuedKey& next, const ReconcileOutcome& outcome) {
  if (outcome.superseded) return;  // it was added again: Done makes it ready, see RunningReconciles
  const int priority = outcome.returned.priority.value_or(next.priority);
  switch (outcome.result) {
    case ReconcileResult::kSuccess:
      return queue_.Forget(next.item);
    case ReconcileResult::kRequeueAfter:
      if (outcome.returned.requeue_after < Duration::zero()) {
        return AddRateLimited(next.item, priority, {}, Reason::Type::kRequeueAfter);
      }
      queue_.Forget(next.item);
      return queue_.AddAfter(
          next.item, outcome.returned.requeue_after,
          {.priority = priority, .payload = PayloadOf(Reason::Type::kRequeueAfter)});
    case ReconcileResult::kRequeue:
      return AddRateLimited(next.item, priority, {});
    case ReconcileResult::kError:
      if (outcome.error.terminal) return queue_.Forget(next.item);
      return AddRateLimited(next.item, priority, outcome.retry_after);
  }
}

void ReconcileRunner::AddRateLimited(const ObjectKey& key, int priority, Duration min_delay,
                                     Reason::Type reason) {
  constexpr std::string_view kMessage = "Rate limiter error, retrying in 1 s";
  try {
    queue_.AddRateLimited(
        key, {.priority = priority, .min_delay = min_delay, .payload = PayloadOf(reason)});
  } catch (const std::exception& error) {
    RequeueAfterFailure(key, kMessage, error.what());
  } catch (...) {
    RequeueAfterFailure(key, kMessage,
                        "the rate limiter threw an object that is not a std::exception");
  }
}

/// Does not throw. Without memory for the queue, the object waits for its next change or resync.
void ReconcileRunner::RequeueAfterFailure(const ObjectKey& key, std::string_view message,
                                          std::string_view error) {
  log_.Failed(key, message, error);
  try {
    queue_.AddAfter(key, kDelayAfterFailure, {.payload = PayloadOf(Reason::Type::kRetry)});
  } catch (...) {
    log_.Failed(key, "Cannot requeue the object, it waits for its next change or resync",
                "out of memory");
  }
}

/// Returns the payload for an add that is not a newer event.
QueuedReasons ReconcileRunner::PayloadOf(Reason::Type type) const noexcept {
  QueuedReasons payload;
  if (options_.reasons) payload.reasons.Add({.type = type});
  return payload;
}

}  // namespace kopp
