#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <kopp/channel.hpp>
#include <kopp/event_queue.hpp>
#include <kopp/handler_functions.hpp>
#include <kopp/informer/handlers.hpp>
#include <kopp/informer/predicates.hpp>
#include <kopp/reconcile.hpp>
#include <kopp/source.hpp>
#include <kopp/watch_handle.hpp>
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

  /// Merges bursts of events of one object: it is reconciled when its events have been quiet for
  /// `coalesce.quiet`, and at least once per `coalesce.max_wait`. Retries and requeue_after are not
  /// delayed. Default: events are not delayed.
  workqueue::Coalesce coalesce{};
  /// Whether to keep the reasons why a key is queued, for Context::reasons and debugging. Each
  /// event then costs about a microsecond, and each queued key some hundred bytes.
  bool reasons = false;
  /// Whether a reconcile is told to stop when a newer event of its object comes: a stop is
  /// requested at Context::stop, and calls of Context::client are cancelled. If the reconcile then
  /// throws, that is not an error. In any case the object is reconciled once more. An object with
  /// events at shorter intervals than its reconcile takes is never completely reconciled: limit the
  /// rate with `coalesce`. See also Context::Superseded, which works without this option.
  bool cancel_superseded = false;
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

class RunningReconciles;
class SourceRunner;
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
  /// Returns the queue for handlers and sources; `source` is the kind or name for reasons.
  [[nodiscard]] EventQueue EventsOf(std::string source) {
    return EventQueue(queue_, options_.reasons, std::move(source));
  }
  /// Adds a source of events, which runs on a thread of its own. Call it before Start.
  void AddSource(std::shared_ptr<EventSource> source);

  // Watches of further kinds while the program runs, for example because a
  // CustomResourceDefinition was installed. Each watch ends with its handle. The functions are
  // called as those of ControllerBuilder::Watches, first for each existing object. Only events that
  // pass `predicate` are handled. Thread-safe; also reconcile functions may call them.

  /// Watches `U`, and reconciles the objects that `keys` returns when a `U` changes.
  template <Object U>
  WatchHandle Watch(std::function<std::vector<ObjectKey>(const U&)> keys,
                    AnyPredicate predicate = {}) {
    auto handler =
        informer::EnqueueMapped<U>(EventsOf(std::string(U::kKind.kind)).Enqueue(), std::move(keys));
    return Watch(cache_.Acquire<U>(), std::move(handler), std::move(predicate));
  }
  /// Watches `U` with own functions.
  template <Object U>
  WatchHandle Watch(HandlerFunctions<U> functions, AnyPredicate predicate = {}) {
    auto handler = HandlerOf<U>(std::move(functions), EventsOf(std::string(U::kKind.kind)));
    return Watch(cache_.Acquire<U>(), std::move(handler), std::move(predicate));
  }
  /// Watches a kind that is only known at run time.
  WatchHandle Watch(const KindRef& kind,
                    std::function<std::vector<ObjectKey>(const Unstructured&)> keys,
                    AnyPredicate predicate = {});
  void SetReconciler(Reconciler reconcile) { reconcile_ = std::move(reconcile); }

  /// Throws std::logic_error if SetReconciler was not called.
  void RequireReconciler() const;

  /// Starts the workers. Call it once, after SetReconciler. `client` and `events` must outlive the
  /// controller.
  void Start(const Client& client, EventRecorder& events, const Logger& log);
  /// Makes the sources end, and each worker after its current key. Keys that are still queued are
  /// not reconciled. Does not block.
  void RequestStop();
  /// Blocks until all sources and workers have ended, or until `deadline`. Returns whether they
  /// have ended, and then logs how many reconciles succeeded and failed.
  bool WaitForWorkers(TimePoint deadline, const Logger& log);

 private:
  WatchHandle Watch(std::shared_ptr<InformerSet> informers, informer::AnyEventHandler handler,
                    AnyPredicate predicate) const;

  ControllerOptions options_;
  Cache& cache_;
  Clock& clock_;
  // Null unless options_.cancel_superseded. Declared before queue_, which calls it.
  std::unique_ptr<RunningReconciles> running_;
  workqueue::RateLimitingQueue<ObjectKey> queue_;
  Reconciler reconcile_;
  std::unique_ptr<SourceRunner> sources_;
  std::unique_ptr<WorkerPool> workers_;  // last: the workers use all members above
};

/// Options of ControllerBuilder::Owns.
struct OwnsOptions {
  /// Whether to reconcile every owner of the kind. Default: only the owner reference with
  /// `controller: true`. controller-runtime: MatchEveryOwner.
  bool match_every_owner = false;

  [[nodiscard]] informer::OwnerMatch match() const {
    return match_every_owner ? informer::OwnerMatch::kEveryOwner
                             : informer::OwnerMatch::kController;
  }
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
    AddHandler<T>(informer::EnqueueKey(Enqueue(T::kKind)), NonBlocking(controller_.resync()));
  }

  /// Returns the controller, for example to call Controller::Watch while the program runs.
  [[nodiscard]] Controller& controller() const { return controller_; }

  /// Watches `U`, and reconciles the owning `T` when a `U` with a `T` as its controller (see
  /// OwnedBy) changes.
  template <Object U>
  ControllerBuilder& Owns(const OwnsOptions& options = {}) {
    AddHandler<U>(informer::EnqueueOwner(Enqueue(U::kKind), T::kKind, options.match()),
                  NonBlocking());
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
    AddHandler<U>(informer::EnqueueMapped<U>(Enqueue(U::kKind), std::move(keys)), {});
    return *this;
  }

  /// Watches `U` with own functions, which add keys to the queue. They are called as `keys` above.
  template <Object U>
  ControllerBuilder& Watches(HandlerFunctions<U> functions) {
    AddHandler<U>(HandlerOf<U>(std::move(functions), controller_.EventsOf(KindOf(U::kKind))), {});
    return *this;
  }

  /// Reconciles the objects whose keys `source` adds. No predicate applies.
  ControllerBuilder& Watches(std::shared_ptr<EventSource> source) {
    controller_.AddSource(std::move(source));
    return *this;
  }
  /// Reconciles the objects that `keys` returns for each event of `channel`. `keys` is called on a
  /// thread of its own, and may block. A channel belongs to one controller.
  template <typename Event>
  ControllerBuilder& WatchesChannel(const Channel<Event>& channel,
                                    std::function<std::vector<ObjectKey>(const Event&)> keys) {
    return Watches(std::make_shared<ChannelSource<Event>>(channel, std::move(keys)));
  }
  /// Reconciles the objects whose keys are sent to `channel`.
  ControllerBuilder& WatchesChannel(const Channel<ObjectKey>& channel) {
    return WatchesChannel<ObjectKey>(channel,
                                     [](const ObjectKey& key) { return std::vector{key}; });
  }
  /// Reconciles all objects of `T` at each event of `channel`, for example when a configuration
  /// that concerns all of them has changed. kube-rs: reconcile_all_on.
  template <typename Event>
  ControllerBuilder& ReconcileAllOn(const Channel<Event>& channel) {
    return WatchesChannel<Event>(channel, [all = AllKeys()](const Event&) { return all(); });
  }
  /// Reconciles all objects of `T` each `interval`, also if nothing has changed.
  ControllerBuilder& ReconcileAllEvery(Duration interval) {
    return Watches(std::make_shared<TimerSource>(interval, AllKeys()));
  }

  /// Owns() for a kind that is only known at run time. The cache has only the metadata of its
  /// objects, unless `form` is kComplete.
  ControllerBuilder& Owns(const KindRef& kind, ObjectForm form = ObjectForm::kMetadataOnly,
                          const OwnsOptions& options = {}) {
    AddHandler(controller_.cache().InformerFor(kind, form),
               form == ObjectForm::kComplete ? typeid(Unstructured) : typeid(PartialObjectMetadata),
               informer::EnqueueOwner(Enqueue(kind), T::kKind, options.match()), NonBlocking());
    return *this;
  }
  /// Watches() for a kind that is only known at run time.
  ControllerBuilder& Watches(const KindRef& kind,
                             std::function<std::vector<ObjectKey>(const Unstructured&)> keys) {
    const auto keys_of_any = [keys = std::move(keys)](const informer::AnyObject& object) {
      return keys(*object.As<Unstructured>());
    };
    AddHandler(controller_.cache().InformerFor(kind), typeid(Unstructured),
               informer::EnqueueAnyMapped(Enqueue(kind), keys_of_any), {});
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
  static std::string KindOf(const Kind& kind) { return std::string(kind.kind); }
  [[nodiscard]] informer::EnqueueFunction Enqueue(const Kind& kind) const {
    return controller_.EventsOf(KindOf(kind)).Enqueue();
  }
  /// Returns a function that returns the keys of all objects of `T` in the cache.
  [[nodiscard]] std::function<std::vector<ObjectKey>()> AllKeys() const {
    return [informers = &controller_.cache().template InformerFor<T>()] {
      std::vector<ObjectKey> keys;
      for (const informer::AnyObject& object : informers->List()) keys.push_back(object.key());
      return keys;
    };
  }

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
