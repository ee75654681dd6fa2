#pragma once

#include "controller/failing_keys.hpp"
#include "controller/own_events.hpp"
#include "controller/owner_check.hpp"
#include "controller/timer_queue.hpp"
#include "max_interval.hpp"
#include "reconcile_limits.hpp"
#include "reconcile_log.hpp"
#include "reconcile_outcome.hpp"
#include "running_reconciles.hpp"
#include "worker_pool.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/controller/controller_metrics.hpp>
#include <kopp/controller/reason.hpp>
#include <kopp/informer/any_object.hpp>
#include <kopp/reconcile.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// Calls the reconcile function for a key from the queue, and does what Result documents: Forget,
/// AddAfter or AddRateLimited, a log line, and metrics. Thread-safe; each key must be processed by
/// at most one thread at a time.
///
/// A key whose reconcile failed with an ApiError waits at least as long as the API server asks for
/// (see RetryAfterDelay), so that an overloaded server is not called once per back-off.
class ReconcileRunner {
 public:
  using Queue = WorkerPool::Queue;
  using QueuedKey = WorkerPool::QueuedKey;

  struct Options {
    std::string_view controller{};
    Kind kind{};  ///< of the reconciled objects
    /// Returns whether the controller watches a kind.
    std::function<bool(const Kind&)> watches{};
    Reconciler reconcile{};
    ErrorHook on_error{};            ///< may be empty
    Duration reconcile_timeout{};    ///< 0: none
    Duration max_interval{};         ///< 0: none
    std::string pause_annotation{};  ///< empty: none
    bool track_times = false;        ///< the queue tracks times
    bool reasons = false;            ///< the queue keeps the reasons of keys
    /// Null: a newer event does not stop a reconcile. Must outlive the runner.
    RunningReconciles* running = nullptr;
    /// Returns the object of a key, or an empty AnyObject. May throw.
    std::function<informer::AnyObject(const ObjectKey&)> find{};
    std::vector<ReconcileObserver> observers{};
    FailingKeys& failing;                 ///< must outlive the runner
    OwnEvents& own_events;                ///< must outlive the runner
    ReconcileMetrics* metrics = nullptr;  ///< may be null
    Tracer* tracer = nullptr;             ///< may be null; else it must outlive the runner
  };

  /// The objects that each Context refers to. They must outlive the runner.
  struct Dependencies {
    const Client& client;
    const Cache& cache;
    Clock& clock;
    Logger log;
  };

  /// `queue` and options.metrics must outlive the runner. Throws std::system_error if a thread for
  /// timers is needed and cannot be started.
  ReconcileRunner(Queue& queue, Options options, const Dependencies& dependencies);

  /// Sets the recorder of the Contexts, which must live until the next call. Call it before the
  /// first Process, and while none runs.
  void SetEvents(EventRecorder& events) { events_ = &events; }
  /// Reconciles the object. `stop` is requested when the process shuts down. Does not throw.
  void Process(const QueuedKey& next, const std::stop_token& stop);

  [[nodiscard]] const ReconcileCounts& counts() const { return counts_; }

 private:
  struct Attempt;

  void ProcessOrThrow(const QueuedKey& next, const std::stop_token& stop);
  [[nodiscard]] informer::AnyObject Find(const ObjectKey& key) const;
  [[nodiscard]] bool IsPaused(const ObjectKey& key) const;

  [[nodiscard]] ReconcileLimits NewCall(const Attempt& attempt, RunningReconciles* running) const;
  [[nodiscard]] Context NewContext(const Attempt& attempt, const Client& client,
                                   std::stop_token stop) const;
  [[nodiscard]] ReconcileOutcome Call(const Attempt& attempt) const;
  void RecordForeignObject(const ObjectKey& key, std::string_view message) const;
  void CallErrorHook(const Attempt& attempt, const ReconcileOutcome& outcome) const;
  void Remember(const Attempt& attempt, const ReconcileOutcome& outcome);
  void Notify(const Attempt& attempt, const ReconcileOutcome& outcome) const;

  void Requeue(const QueuedKey& next, const ReconcileOutcome& outcome);
  void AddRateLimited(const ObjectKey& key, int priority, Duration min_delay,
                      Reason::Type reason = Reason::Type::kRetry);
  [[nodiscard]] QueuedReasons PayloadOf(Reason::Type type) const noexcept;
  void RequeueAfterFailure(const ObjectKey& key, std::string_view message, std::string_view error);

  Queue& queue_;
  const Options options_;
  const Dependencies dependencies_;
  EventRecorder* events_ = nullptr;
  const ReconcileLog log_;
  mutable OwnerCheck owner_check_;
  ReconcileCounts counts_;
  std::optional<MaxInterval> max_interval_;
  std::unique_ptr<TimerQueue> timers_;  // last: its thread uses max_interval_; null if not needed
};

}  // namespace kopp
