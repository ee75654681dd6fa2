#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <kopp/informer/handlers.hpp>
#include <kopp/informer/predicates.hpp>
#include <kopp/reconcile.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp {

/// Options of Manager::AddController.
struct ControllerOptions {
  std::string name = {};  ///< used in logs and metrics; default: the kind in lower case
  int workers = 1;        ///< threads that reconcile; one object is never reconciled by two at once
  /// The delay before the reconcile of an object is retried after an exception. Default: for each
  /// object 5 ms, doubled with each failure up to 1000 s.
  std::unique_ptr<workqueue::RateLimiter<ObjectKey>> limiter = {};
  /// The order in which queued objects are reconciled. Default: changes before the objects of the
  /// initial list and of resyncs.
  workqueue::Order order = workqueue::Order::Priority();
  /// The interval at which every object is reconciled even if it has not changed; 0: never.
  Duration resync = std::chrono::hours(10);
};

/// Converts a function to a Reconciler. ControllerBuilder::Reconcile documents the two signatures.
template <Object T, typename F>
[[nodiscard]] Reconciler ReconcilerOf(F reconcile) {
  if constexpr (std::is_invocable_r_v<Result, F&, const ObjectKey&, Context&>) {
    return reconcile;
  } else {
    static_assert(
        std::is_invocable_r_v<Result, F&, const T&, Context&>,
        "Reconcile takes Result(const T&, Context&) or Result(const ObjectKey&, Context&)");
    return [reconcile = std::move(reconcile)](const ObjectKey& key, Context& context) -> Result {
      const auto object = context.cache.Get<T>(key);
      return object ? reconcile(*object, context) : Result{};
    };
  }
}

class WorkerPool;

/// A workqueue of object keys and the workers that reconcile them. Operators do not use this class
/// directly: Manager::AddController creates it, and Manager::Run runs it. Not thread-safe, except
/// for queue().
class Controller {
 public:
  /// `cache`, `clock` and, if not null, `metrics` must outlive the controller. Throws
  /// std::invalid_argument if there are fewer than one worker.
  Controller(ControllerOptions options, Cache& cache, Clock& clock,
             workqueue::MetricsProvider* metrics = nullptr);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  [[nodiscard]] const std::string& name() const { return options_.name; }
  [[nodiscard]] Duration resync() const { return options_.resync; }
  [[nodiscard]] Cache& cache() { return cache_; }
  [[nodiscard]] workqueue::RateLimitingQueue<ObjectKey>& queue() { return queue_; }
  void SetReconciler(Reconciler reconcile) { reconcile_ = std::move(reconcile); }

  /// Throws std::logic_error if SetReconciler was not called.
  void RequireReconciler() const;

  /// Starts the workers. Call it once, after SetReconciler. `client` and `events` must outlive the
  /// controller.
  void Start(const Client& client, EventRecorder& events, const Logger& log);
  /// Makes each worker end after its current key. Keys that are still queued are not reconciled.
  /// Does not block.
  void RequestStop();
  /// Blocks until all workers have ended, or until `deadline`. Returns whether they have ended, and
  /// then logs how many reconciles succeeded and failed.
  bool WaitForWorkers(TimePoint deadline, const Logger& log);

 private:
  ControllerOptions options_;
  Cache& cache_;
  Clock& clock_;
  workqueue::RateLimitingQueue<ObjectKey> queue_;
  Reconciler reconcile_;
  std::unique_ptr<WorkerPool> workers_;  // last: the workers use all members above
};

/// Configures a controller for objects of `T`: which other kinds it watches, and its reconcile
/// function. Every object of `T` that is added, changed or deleted is reconciled.
///
/// Call Reconcile last, and everything before Manager::Run. Not thread-safe. The Manager must
/// outlive the builder.
///
///     manager.AddController<Foo>({.name = "foo", .workers = 2})
///         .Where(kopp::GenerationChanged())  // applies to Foo
///         .Owns<Deployment>()
///         .Reconcile(f);
template <Object T>
class [[nodiscard]] ControllerBuilder {
 public:
  explicit ControllerBuilder(Controller& controller) : controller_(controller) {
    AddHandler<T>(informer::EnqueueKey(controller_.queue()), NonBlocking(controller_.resync()));
  }

  /// Watches `U`, and reconciles the owning `T` when a `U` with a `T` as its controller (see
  /// OwnedBy) changes.
  template <Object U>
  ControllerBuilder& Owns() {
    AddHandler<U>(informer::EnqueueOwner(controller_.queue(), T::kKind), NonBlocking());
    return *this;
  }

  /// Watches `U`, and reconciles the objects that `keys` returns when a `U` changes. `keys` is
  /// called on a thread of its own, one call at a time (if several namespaces are watched: one for
  /// each); while it is busy, the events of each `U` are merged. It may block, for example to call
  /// the API server. Manager::Run documents what happens if it does not return after a stop.
  ///
  /// It may read the cache; these reads do not wait for own writes (see ReadOptions). If it throws,
  /// the error is logged and no key is enqueued for this event.
  template <Object U>
  ControllerBuilder& Watches(std::function<std::vector<ObjectKey>(const U&)> keys) {
    AddHandler<U>(informer::EnqueueMapped<U>(controller_.queue(), std::move(keys)), {});
    return *this;
  }

  /// Owns() for a kind that is only known at run time. The cache has only the metadata of its
  /// objects, unless `form` is kComplete.
  ControllerBuilder& Owns(const KindRef& kind, ObjectForm form = ObjectForm::kMetadataOnly) {
    AddHandler(controller_.cache().InformerFor(kind, form),
               form == ObjectForm::kComplete ? typeid(Unstructured) : typeid(PartialObjectMetadata),
               informer::EnqueueOwner(controller_.queue(), T::kKind), NonBlocking());
    return *this;
  }
  /// Watches() for a kind that is only known at run time.
  ControllerBuilder& Watches(const KindRef& kind,
                             std::function<std::vector<ObjectKey>(const Unstructured&)> keys) {
    const auto keys_of_any = [keys = std::move(keys)](const informer::AnyObject& object) {
      return keys(*object.As<Unstructured>());
    };
    AddHandler(controller_.cache().InformerFor(kind), typeid(Unstructured),
               informer::EnqueueAnyMapped(controller_.queue(), keys_of_any), {});
    return *this;
  }

  /// Ignores the events that do not pass `predicate`, of the kind that was named last: by Owns or
  /// Watches, or else by AddController. Several predicates for one kind must all pass. Throws
  /// std::logic_error if the predicate is for another view. See predicates.hpp.
  /// controller-runtime: builder.WithPredicates.
  ControllerBuilder& Where(AnyPredicate predicate) {
    *predicate_ = *predicate_ && std::move(predicate);
    return *this;
  }

  /// Sets the reconcile function. It is called by several threads at once if `workers` > 1. It has
  /// one of two signatures. This one gets the object from the cache, and is not called if the
  /// object does not exist:
  ///
  ///     Result Reconcile(const Foo& foo, Context& context);
  ///
  /// This one gets the key, and is also called after the object was deleted:
  ///
  ///     Result Reconcile(const ObjectKey& key, Context& context);
  ///
  /// An exception is logged, and the reconcile is retried with back-off; see also TerminalError.
  template <typename F>
  void Reconcile(F reconcile) {
    controller_.SetReconciler(ReconcilerOf<T>(std::move(reconcile)));
  }

 private:
  template <Object U>
  void AddHandler(informer::AnyEventHandler handler, informer::HandlerOptions options) {
    AddHandler(controller_.cache().InformerFor<U>(), typeid(U), std::move(handler),
               std::move(options));
  }
  void AddHandler(InformerSet& informers, const std::type_info& view,
                  informer::AnyEventHandler handler, informer::HandlerOptions options) {
    options.name = controller_.name();
    predicate_ = std::make_shared<AnyPredicate>(AnyPredicate{.view = &view});
    informers.AddHandler(informer::WithPredicate(predicate_, std::move(handler)), options);
  }

  /// For handlers that only add keys to the queue. They need no thread.
  static informer::HandlerOptions NonBlocking(Duration resync = {}) {
    return {.resync = resync, .delivery = informer::Delivery::kInformerThread};
  }

  Controller& controller_;
  std::shared_ptr<AnyPredicate> predicate_;  // of the kind that was named last
};

}  // namespace kopp
