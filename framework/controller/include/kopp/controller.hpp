#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include <kopp/controller/controller_metrics.hpp>
#include <kopp/controller/controller_options.hpp>
#include <kopp/controller/event_queue.hpp>
#include <kopp/controller/handler_functions.hpp>
#include <kopp/controller/source.hpp>
#include <kopp/controller/watch_handle.hpp>
#include <kopp/informer/any_object.hpp>
#include <kopp/informer/handlers.hpp>
#include <kopp/informer/kind_ref.hpp>
#include <kopp/informer/predicates.hpp>
#include <kopp/reconcile.hpp>
#include <kopp/workqueue/owned_ptr.hpp>

namespace kopp {

class ReconcileRunner;
class RunningReconciles;
class SourceRunner;
class Tracer;
class WorkerPool;

/// A workqueue of object keys and the workers that reconcile them. Manager::AddController creates
/// it, and Manager::Run runs it. queue(), workers() and SetWorkers are thread-safe.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the order is that of the lifetimes
class Controller {
 public:
  /// Returns the object of a key in the cache, or an empty AnyObject.
  using Find = std::function<informer::AnyObject(const ObjectKey&)>;

  /// `kind` is that of the reconciled objects. `cache`, `clock` and, if not null, `metrics` must
  /// outlive the controller. Throws std::invalid_argument if there are fewer than one worker.
  Controller(ControllerOptions options, const Kind& kind, Cache& cache, Clock& clock,
             ControllerMetrics* metrics = nullptr);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  [[nodiscard]] const std::string& name() const { return options_.name; }
  /// Returns the kind of the reconciled objects. The reference is valid as long as the controller.
  [[nodiscard]] const KindRef& kind() const { return kind_; }
  [[nodiscard]] Cache& cache() { return cache_; }
  /// Returns the queue. Include <kopp/controller/controller_queue.hpp> to call it.
  [[nodiscard]] ControllerQueue& queue() { return *queue_; }
  /// Returns the queue for handlers and sources; `source` is the kind or name for reasons.
  [[nodiscard]] EventQueue EventsOf(std::string source) {
    return EventQueue(*queue_, options_.reasons, std::move(source));
  }
  /// Returns ControllerOptions::resync.
  [[nodiscard]] Duration resync() const { return *options_.resync; }

  /// Changes the number of workers, also while they run. A worker that is too many ends after its
  /// current reconcile. Does not block; may be called by a reconcile function. Throws
  /// std::invalid_argument if `workers` < 1, and std::runtime_error if a thread cannot be started.
  void SetWorkers(int workers);
  [[nodiscard]] int workers() const;

  /// Returns the number of reconciles since the start, with any result. Thread-safe.
  [[nodiscard]] std::uint64_t CompletedReconciles() const { return completed_; }

  // Watches of further kinds while the program runs, for example because a
  // CustomResourceDefinition was installed. Each watch ends with its handle. The functions are
  // called as those of ControllerBuilder::Watches, first for each existing object. Only events that
  // pass `predicate` are handled. They throw std::logic_error if `predicate` is for another view;
  // then nothing is watched. Thread-safe; also reconcile functions may call them.

  /// Watches `U`, and reconciles the objects that `keys` returns when a `U` changes.
  template <Object U>
  WatchHandle Watch(std::function<std::vector<ObjectKey>(const U&)> keys,
                    AnyPredicate predicate = {}) {
    AnyPredicate of_view = AnyPredicate{.view = &typeid(U)} && std::move(predicate);
    auto handler =
        informer::EnqueueMapped<U>(EventsOf(std::string(U::kKind.kind)).Enqueue(), std::move(keys));
    return Watch(cache_.Acquire<U>(), std::move(handler), std::move(of_view));
  }
  /// Watches `U` with own functions.
  template <Object U>
  WatchHandle Watch(HandlerFunctions<U> functions, AnyPredicate predicate = {}) {
    AnyPredicate of_view = AnyPredicate{.view = &typeid(U)} && std::move(predicate);
    auto handler = HandlerOf<U>(std::move(functions), EventsOf(std::string(U::kKind.kind)));
    return Watch(cache_.Acquire<U>(), std::move(handler), std::move(of_view));
  }
  /// Watches a kind that is only known at run time.
  WatchHandle Watch(const KindRef& kind,
                    std::function<std::vector<ObjectKey>(const Unstructured&)> keys,
                    AnyPredicate predicate = {});

  // The Manager and ControllerBuilder call the following.

  /// Adds a source of events, which runs on a thread of its own. Call it before Start.
  void AddSource(std::shared_ptr<EventSource> source);

  /// Sets the informers of the reconciled objects, and how to find one of them.
  void SetPrimary(InformerSet& informers, Find find);
  /// Adds informers that must have synced before Start. Only their addresses are kept.
  void AddInformers(const InformerSet& informers);
  [[nodiscard]] const std::vector<const InformerSet*>& informers() const { return informers_; }
  /// Sets the reconcile function, then calls the function of OnReconciler.
  void SetReconciler(Reconciler reconcile);
  /// Sets a function that starts the controller when it is complete. For controllers that are added
  /// while the manager runs.
  void OnReconciler(std::function<void()> start);
  /// Adds a function that is called after each reconcile. Call it before Start.
  void AddObserver(ReconcileObserver observer);

  /// Sets the tracer of the reconciles, which must outlive the controller. Call it before Start.
  void SetTracer(Tracer* tracer) { tracer_ = tracer; }

  /// Returns the function of SetReconciler, for a simulation that calls it itself.
  [[nodiscard]] const Reconciler& reconciler() const { return reconcile_; }

  /// Throws std::logic_error if SetReconciler was not called.
  void RequireReconciler() const;

  /// Starts the workers. Call it after SetReconciler. `client` and `events` must outlive the
  /// controller. May be called again with the same arguments after WaitForWorkers has returned
  /// true, for example after a lost leadership. Throws std::runtime_error if a thread cannot be
  /// started; then call RequestStop and WaitForWorkers.
  void Start(const Client& client, EventRecorder& events, const Logger& log);
  /// Makes the sources end, and each worker after its current key. Keys that are still queued are
  /// not reconciled. Does not block.
  void RequestStop();
  /// Blocks until all sources and workers have ended, or until `deadline`. Returns whether they
  /// have ended, and then logs how many reconciles succeeded and failed, once for each Start.
  bool WaitForWorkers(TimePoint deadline, const Logger& log);

 private:
  WatchHandle Watch(std::shared_ptr<InformerSet> informers, informer::AnyEventHandler handler,
                    AnyPredicate predicate) const;
  void StartThreads(const std::string& threads, const std::function<void()>& start) const;
  void StartWorkers(int workers, const std::function<void()>& start) const;

  ControllerOptions options_;
  const KindRef kind_;
  Cache& cache_;
  Clock& clock_;
  // Null unless options_.cancel_superseded. Declared before queue_, which calls it.
  detail::OwnedPtr<RunningReconciles> running_;
  detail::OwnedPtr<ControllerQueue> queue_;  // never null
  std::vector<const InformerSet*> informers_;
  Find find_;
  Reconciler reconcile_;
  std::function<void()> on_reconciler_;  // may be empty
  std::vector<ReconcileObserver> observers_;
  detail::OwnedPtr<ReconcileMetrics> metrics_;  // null: none
  Tracer* tracer_ = nullptr;                    // null: none
  detail::OwnedPtr<ReconcileRunner> runner_;    // null before Start
  std::atomic<std::uint64_t> completed_ = 0;    // reconciles
  // Whether WaitForWorkers has logged these since the last Start.
  std::atomic<bool> logged_stuck_sources_ = false;
  std::atomic<bool> logged_counts_ = false;
  detail::OwnedPtr<SourceRunner> sources_;
  detail::OwnedPtr<WorkerPool> workers_;  // last: the workers use all members above
};

}  // namespace kopp
