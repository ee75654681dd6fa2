#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kopp/informer/object_key.hpp>
#include <kopp/log.hpp>
#include <kopp/reconcile.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/coalesce.hpp>
#include <kopp/workqueue/order.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace kopp {

/// Options of Manager::AddController. Every field has a default.
struct ControllerOptions {
  std::string name = {};  ///< used in logs and metrics; default: the kind in lower case
  /// The owner of the fields that Context::client writes, in metadata.managedFields. Default: that
  /// of Manager::client(), which is Options::name, with a slash and the name of the controller:
  /// "web-operator/foo". So controllers that apply to the same object keep each other's fields. The
  /// end of a default that is longer than 128 bytes is replaced by a hash. Otherwise
  /// std::invalid_argument is thrown for a field manager that the API server would reject.
  std::string field_manager = {};
  /// The field managers under which earlier versions of the program applied what this controller
  /// applies. Its applies take their fields over, see Client::WithFieldManager. Set them when you
  /// rename the program or the controller. Default: that of Manager::client(), under which kopp 0.1
  /// applied. The field managers of the program's other controllers are never taken over.
  std::optional<std::vector<std::string>> former_field_managers = {};
  /// The threads that reconcile; one object is never reconciled by two at once. Default:
  /// Options::kind_concurrency of the kind, or else Options::max_concurrent_reconciles. See also
  /// Controller::SetWorkers.
  std::optional<int> workers = {};
  /// The delay before the reconcile of an object is retried after an exception. Default: for each
  /// object 5 ms, doubled with each failure up to 1000 s.
  std::unique_ptr<workqueue::RateLimiter<ObjectKey>> limiter = {};
  /// The order in which queued objects are reconciled. Default: changes before the objects of the
  /// initial list and of resyncs.
  workqueue::Order order = workqueue::Order::Priority();
  /// The interval at which every object is reconciled even if it has not changed; 0: never.
  /// Default: Options::sync_period.
  std::optional<Duration> sync_period = {};

  /// The time after which a reconcile should give up; 0: none. Then a stop is requested at
  /// Context::stop, and calls of Context::client are cancelled, so that they throw. A reconcile
  /// that ignores both continues, because a thread cannot be terminated; its object is not
  /// reconciled again until it returns. Reads of Context::cache are not cancelled, but they wait at
  /// most CacheOptions::own_writes_timeout. controller-runtime: ReconciliationTimeout.
  Duration reconcile_timeout{};

  /// The longest time between two reconciles of one object; 0: unlimited. An object that has been
  /// reconciled is reconciled again with low priority 90 to 100 % of this time later, unless that
  /// happens earlier for another reason. The random part spreads the load. In contrast to
  /// `sync_period`, the time starts again with each reconcile.
  Duration max_interval{};

  /// An annotation that pauses an object, such as "example.com/paused"; empty: none. While an
  /// object has this annotation with the value "true", it is not reconciled, not even to delete it:
  /// keys that are already queued are dropped. After the annotation is removed, the object is
  /// reconciled, whatever its predicates.
  std::string pause_annotation = {};

  /// Called after each reconcile that threw, before its retry, for example to write the error to
  /// the status of the object. It gets a Context of its own, whose client and stop token have their
  /// full reconcile_timeout. Its exceptions are logged. It is not called for errors that a retry
  /// resolves and that are only logged at info: a conflict, a StaleCacheError, or a call that the
  /// shutdown has cancelled. May be called by several threads at once.
  ///
  /// The event of a write with the client of its Context does not cut short the delay before the
  /// retry: see docs/controllers.md, "Own writes".
  ErrorHook on_error = {};

  /// The logger of the controller, for example with another level. Default: Options::log.
  std::optional<Logger> log = {};
  /// Merges bursts of events of one object: it is reconciled when its events have been quiet for
  /// `coalesce.quiet`, and at least once per `coalesce.max_wait`. Retries and requeue_after are not
  /// delayed. Default: events are not delayed.
  workqueue::Coalesce coalesce{};
  /// Whether to keep the reasons why a key is queued, for Context::reasons and debugging. This
  /// costs about a microsecond for each event, and 300 bytes for each queued key.
  bool reasons = false;
  /// Deprecated: call Context::Superseded at the places where a reconcile can stop. Requests the
  /// stop of a reconcile at Context::stop when a newer event of its object comes, and cancels calls
  /// of Context::client; an object with many events may never be completely reconciled.
  // Not [[deprecated]]: compilers would warn about each ControllerOptions, even if it is not set.
  bool cancel_superseded = false;
  /// Whether to measure how long keys wait and how long they are processed: for
  /// Context::queue_wait, and for snapshots of the queue. Always true with metrics.
  bool track_times = false;
};

}  // namespace kopp
