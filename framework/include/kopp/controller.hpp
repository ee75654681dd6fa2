#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <kopp/informer/handlers.hpp>
#include <kopp/reconcile.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp {

struct ControllerOptions {
  std::string name = {};  ///< for logs and metrics; default: the kind in lower case
  int workers = 1;        ///< reconciles at once, each of another object
  /// The wait before another try; default: 5 ms, doubled up to 1000 s, each object by itself.
  std::unique_ptr<workqueue::RateLimiter<ObjectKey>> limiter = {};
  /// Which object is next: what happens goes in front of a first list and of resyncs.
  workqueue::Order order = workqueue::Order::Priority();
  /// How often each object is reconciled though nothing changes; 0: never.
  Duration resync = std::chrono::hours(10);
};

/// What ControllerBuilder::Reconcile takes, as a Reconciler.
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

/// A queue of keys, what puts keys in, and the workers that take them out. Made and run by a
/// Manager.
class Controller {
 public:
  /// `metrics`, where given, outlives the controller.
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

  /// Throws std::logic_error without a reconciler.
  void RequireReconciler() const;

  /// Starts the workers. Requires a reconciler. Once.
  void Start(const Client& client, EventRecorder& events, const Logger& log);
  /// Tells the workers to finish the key in hand and to take no other. Does not wait.
  void RequestStop();
  /// Blocks until the workers have ended, or until `deadline`. Returns whether they have, and logs
  /// how their reconciles ended.
  bool AwaitEnd(TimePoint deadline, const Logger& log);

 private:
  ControllerOptions options_;
  Cache& cache_;
  Clock& clock_;
  workqueue::RateLimitingQueue<ObjectKey> queue_;
  Reconciler reconcile_;
  std::unique_ptr<WorkerPool> workers_;  // last: they use everything above
};

/// Says what a controller of `T` looks at; ends with Reconcile.
///
///     manager.AddController<Foo>({.name = "foo", .workers = 2}).Owns<Deployment>().Reconcile(f);
template <Object T>
class [[nodiscard]] ControllerBuilder {
 public:
  explicit ControllerBuilder(Controller& controller) : controller_(controller) {
    auto& informer = controller_.cache().InformerFor<T>();
    informer.AddHandler(informer::EnqueueKey(controller_.queue()), controller_.resync());
  }

  /// A change of a `U` whose controller is a `T` reconciles that `T`.
  template <Object U>
  ControllerBuilder& Owns() {
    auto& informer = controller_.cache().InformerFor<U>();
    informer.AddHandler(informer::EnqueueOwner(controller_.queue(), T::kKind));
    return *this;
  }

  /// A change of a `U` reconciles the objects that `keys` names.
  template <Object U>
  ControllerBuilder& Watches(std::function<std::vector<ObjectKey>(const U&)> keys) {
    auto& informer = controller_.cache().InformerFor<U>();
    informer.AddHandler(informer::EnqueueMapped<U>(controller_.queue(), std::move(keys)));
    return *this;
  }

  /// What to do. `reconcile` takes either the object, as the cache has it, and is not called when
  /// it is gone:
  ///
  ///     Result Reconcile(const Foo& foo, Context& context);
  ///
  /// or the key, and is called for a gone object too:
  ///
  ///     Result Reconcile(const ObjectKey& key, Context& context);
  template <typename F>
  void Reconcile(F reconcile) {
    controller_.SetReconciler(ReconcilerOf<T>(std::move(reconcile)));
  }

 private:
  Controller& controller_;
};

}  // namespace kopp
