#pragma once

#include "controller/controller_queue.hpp"
#include "controller/failing_keys.hpp"
#include "controller/own_events.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <kopp/cache.hpp>
#include <kopp/client.hpp>
#include <kopp/controller.hpp>
#include <kopp/controller/controller_metrics.hpp>
#include <kopp/controller/controller_options.hpp>
#include <kopp/controller/event_queue.hpp>
#include <kopp/controller/source.hpp>
#include <kopp/informer/any_object.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/log.hpp>
#include <kopp/reconcile.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

class ReconcileRunner;
class RunningReconciles;
class SourceRunner;
class Tracer;
class WorkerPool;

/// The internal interface of a controller, for its manager and its builder. Owns the Controller
/// that users get. queue(), EventsOf, workers() and SetWorkers are thread-safe.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the order is that of the lifetimes
class Controller::Impl {
 public:
  /// Returns the object of a key in the cache, or an empty AnyObject.
  using Find = std::function<informer::AnyObject(const ObjectKey&)>;

  /// `kind` is that of the reconciled objects. `cache`, `clock` and, if not null, `metrics` must
  /// outlive the controller. Throws std::invalid_argument if there are fewer than one worker.
  Impl(ControllerOptions options, const Kind& kind, Cache& cache, Clock& clock,
       ControllerMetrics* metrics = nullptr);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Returns the implementation of `controller`.
  [[nodiscard]] static Impl& Of(Controller& controller) { return controller.impl_; }
  [[nodiscard]] Controller& controller() { return controller_; }

  [[nodiscard]] const std::string& name() const { return options_.name; }
  [[nodiscard]] const OwningKind& kind() const { return kind_; }
  [[nodiscard]] Cache& cache() { return cache_; }
  [[nodiscard]] ControllerQueue& queue() { return *queue_; }
  /// Recognizes the events of the reconciles' own writes. A simulation that calls reconciler()
  /// creates an OwnEvents::Scope for each call.
  [[nodiscard]] OwnEvents& own_events() { return own_events_; }
  /// See Controller::EventsOf.
  [[nodiscard]] EventQueue EventsOf(std::string source) {
    return EventQueue(*queue_, options_.reasons, std::move(source), &own_events_);
  }
  /// Returns ControllerOptions::sync_period.
  [[nodiscard]] Duration sync_period() const { return *options_.sync_period; }
  /// See Controller::SetWorkers.
  void SetWorkers(int workers);
  [[nodiscard]] int workers() const;
  [[nodiscard]] std::uint64_t CompletedReconciles() const { return completed_; }

  /// Adds a source of events, which runs on a thread of its own. Call it before Start.
  void AddSource(std::shared_ptr<EventSource> source);

  /// Sets how to find a reconciled object, and makes the removal of the pause annotation of an
  /// object of `informers` enqueue it.
  void SetPrimaryInformers(InformerSet& informers, Find find);
  /// Adds informers that must have synced before Start. Only their addresses are kept.
  void AddInformers(const InformerSet& informers) { informers_.push_back(&informers); }
  [[nodiscard]] const std::vector<const InformerSet*>& informers() const { return informers_; }
  /// Adds a kind that is watched while the controller runs.
  void AddWatchedKind(const OwningKind& kind);
  /// Returns whether the controller watches or has watched a kind, in any version.
  [[nodiscard]] bool Watches(const Kind& kind) const;
  /// Adds a kind whose objects the reconciled objects own: see Manager::Permissions.
  void AddOwnedKind(const Kind& kind) { owned_kinds_.emplace_back(kind); }
  [[nodiscard]] const std::vector<OwningKind>& owned_kinds() const { return owned_kinds_; }
  /// Sets the reconcile function, then calls the function of OnReconciler.
  void SetReconciler(Reconciler reconcile);
  /// Sets a function that starts the controller when it is complete. For controllers that are added
  /// while the manager runs.
  void OnReconciler(std::function<void()> start) { on_reconciler_ = std::move(start); }
  /// Adds a function that is called after each reconcile. Call it before Start.
  void AddObserver(ReconcileObserver observer) { observers_.push_back(std::move(observer)); }

  /// Sets the tracer of the reconciles, which must outlive the controller. Call it before Start.
  void SetTracer(Tracer* tracer) { tracer_ = tracer; }

  /// Returns the function of SetReconciler, for a simulation that calls it itself.
  [[nodiscard]] const Reconciler& reconciler() const { return reconcile_; }

  /// Throws std::logic_error if SetReconciler was not called.
  void RequireReconciler() const;

  /// Returns ControllerOptions::field_manager, or the default for a program whose clients write as
  /// `program`. Throws std::invalid_argument if it is not valid.
  [[nodiscard]] std::string FieldManager(const std::string& program) const;
  /// Returns a copy of a client of the program for the reconciles, with the field manager of the
  /// controller. `all` are the controllers of the program.
  [[nodiscard]] Client ClientOf(const Client& program, const std::vector<Impl*>& all) const;

  /// Reconciles the keys at once that wait for a retry after an error. `source` is that of the
  /// reason.
  void RetryFailing(const std::string& source);

  /// Starts the workers. Call it after SetReconciler. `client` is that of the reconciles, see
  /// ClientOf. `events` must live until WaitForWorkers has returned true. May be called again then,
  /// for example after a lost leadership, with the same `log`. Throws std::runtime_error if a
  /// thread cannot be started; then call RequestStop and WaitForWorkers.
  void Start(Client client, EventRecorder& events, const Logger& log);
  /// Makes the sources end, and each worker after its current key. Keys that are still queued are
  /// not reconciled. Does not block.
  void RequestStop();
  /// Blocks until all sources and workers have ended, or until `deadline`. Returns whether they
  /// have ended, and then logs how many reconciles succeeded and failed, once for each Start.
  bool WaitForWorkers(TimePoint deadline, const Logger& log);

 private:
  void StartThreads(const std::string& threads, const std::function<void()>& start) const;
  void StartWorkers(int workers, const std::function<void()>& start) const;

  Controller controller_{*this};
  ControllerOptions options_;
  const OwningKind kind_;
  Cache& cache_;
  Clock& clock_;
  // Null unless options_.cancel_superseded. Declared before queue_, which calls it.
  std::unique_ptr<RunningReconciles> running_;
  std::unique_ptr<ControllerQueue> queue_;  // never null
  std::vector<const InformerSet*> informers_;
  mutable detail::Guarded<std::set<OwningKind>> watched_;  // see AddWatchedKind
  std::vector<OwningKind> owned_kinds_;
  Find find_;
  Reconciler reconcile_;
  std::function<void()> on_reconciler_;  // may be empty
  std::vector<ReconcileObserver> observers_;
  FailingKeys failing_;
  OwnEvents own_events_;
  std::unique_ptr<ReconcileMetrics> metrics_;  // null: none
  Tracer* tracer_ = nullptr;                   // null: none
  std::optional<Client> client_;               // of the reconciles; not set before Start
  std::unique_ptr<ReconcileRunner> runner_;    // null before Start
  std::atomic<std::uint64_t> completed_ = 0;   // reconciles
  // Whether WaitForWorkers has logged these since the last Start.
  std::atomic<bool> logged_stuck_sources_ = false;
  std::atomic<bool> logged_counts_ = false;
  std::unique_ptr<SourceRunner> sources_;
  std::unique_ptr<WorkerPool> workers_;  // the workers use all members above
  std::vector<std::unique_ptr<workqueue::Metric>> key_metrics_;  // they read queue_ and failing_
};

}  // namespace kopp
