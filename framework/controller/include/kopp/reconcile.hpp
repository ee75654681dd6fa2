#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>

#include <kopp/cache.hpp>
#include <kopp/client.hpp>
#include <kopp/controller/reason.hpp>
#include <kopp/events.hpp>
#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

class Span;

/// Passed to a reconcile function. All members are thread-safe, and valid until the function
/// returns.
struct Context {
  ObjectKey key;  ///< the object to reconcile
  /// Reads and writes at the API server. Its calls are cancelled at
  /// ControllerOptions::reconcile_timeout, and when a graceful shutdown has timed out. On the
  /// thread of the reconcile, also a copy of it throws std::invalid_argument for an object in
  /// another namespace whose owner is the reconciled object: the garbage collector would delete it.
  /// Logs, once per kind, a write of an object that the reconciled object controls if the
  /// controller does not watch its kind.
  const Client& client;
  /// Local copies. They contain the writes of `client`; a read may wait for them and throw
  /// StaleCacheError. Changes by others may arrive later. When the calls of `client` are cancelled,
  /// the reads that wait on the thread of this reconcile throw.
  const Cache& cache;
  EventRecorder& events;  ///< records Kubernetes Events
  /// Adds the controller, the object and the reconcile id to each line: `controller`,
  /// `controllerGroup`, `controllerKind`, `namespace`, `name`, `reconcileID`, and the key of the
  /// object under the name of its kind.
  Logger log;
  /// A stop is requested when the process shuts down, at ControllerOptions::reconcile_timeout, and
  /// with the deprecated cancel_superseded when a newer event comes: return early. A
  /// std::stop_callback runs on another thread, which may deliver the events of a kind to all
  /// controllers, or handle the timeouts of all reconciles. So it must not block and must not
  /// throw.
  std::stop_token stop;
  Clock& clock = Clock::Real();   ///< the clock of the manager; tests simulate it
  std::string reconcile_id = {};  ///< a UUID, different for each reconcile
  /// The number of retries since the last success, TerminalError or requeue_after: 0 for the first
  /// try. A retry follows an exception or Result::backoff.
  int retries = 0;
  std::string last_error = {};  ///< what() of the exception that this reconcile retries, or ""
  /// The time that the key was ready before a worker took it. Not set unless the queue tracks
  /// times, see ControllerOptions::track_times.
  std::optional<Duration> queue_wait = {};
  Reasons reasons = {};  ///< why the key was queued; empty unless ControllerOptions::reasons is set
  /// The span of this reconcile, to add attributes and as parent of own spans; null without
  /// Options::tracer.
  Span* span = nullptr;
  std::function<bool()> is_superseded = {};  ///< for Superseded

  /// Returns whether a newer event of the object has come since this reconcile started. The object
  /// will then be reconciled once more, so a long reconcile may return early.
  ///
  /// Newer events are changes that a handler or a source adds. Resyncs, objects of an initial list,
  /// timers, retries, max_interval, Result::requeue_after and EventQueue::AddAfter are none, nor
  /// are the events of own writes with `client` that are proven to be own: see docs/controllers.md,
  /// "Own writes". With ControllerOptions::coalesce, an event only counts after its wait.
  [[nodiscard]] bool Superseded() const { return is_superseded && is_superseded(); }
};

/// The result of a reconcile that did not throw. `{}`: reconcile again when something changes.
///
/// This is when the object is reconciled next, and what the metrics count. In each case it is also
/// reconciled after its next change: at once if it changed during the reconcile. A change by a
/// write of Context::client does so only after `{}` or a positive requeue_after; it cuts short no
/// delay of the limiter. The limiter is ControllerOptions::limiter; *reset* means that its next
/// delay is the shortest again.
///
/// | the reconcile function | next reconcile | limiter | `result` in metrics |
/// |---|---|---|---|
/// | returns `{}` | at a change or resync | reset | success |
/// | returns `{.requeue_after = t}` | after t | reset | requeue_after |
/// | the same, and t < 0: overdue | after the limiter's delay | counts one more | requeue_after |
/// | returns `{.backoff = true}` | after the limiter's delay | counts one more | requeue |
/// | throws TerminalError | at a change or resync | reset | error, also a terminal error |
/// | throws ApiError with Retry-After | after the longer of both | counts one more | error |
/// | throws another std::exception | after the limiter's delay | counts one more | error |
/// | throws after a newer event (cancel_superseded) | at once | unchanged | requeue |
/// | throws another object | after the limiter's delay | counts one more | error, also a panic |
///
/// controller-runtime does not reset the limiter after a terminal error. kopp does, as client-go
/// advises for items that are not retried: the change that follows starts a new sequence of tries.
struct Result {
  /// Reconcile again after this time even without a change; 0: do not. Negative: the time is over,
  /// for example that of `expiry - now`. Then the object is reconciled again at once, as fast as
  /// the limiter allows.
  Duration requeue_after{};
  /// Reconcile again after the delay of the limiter, without an error: for something that should be
  /// ready soon. Ignored if requeue_after is set. controller-runtime: Result.Requeue.
  bool backoff = false;
  /// The priority of the key when it is requeued by this result. Default: that of this reconcile.
  std::optional<int> priority = {};
};

/// Thrown by a reconcile function if a retry cannot help, for example because the spec is invalid.
/// The error is logged and counted, and the object is not reconciled until it is changed, other
/// than by the writes of its own reconciles, or until the next resync. After any other exception,
/// the reconcile is retried with back-off.
class TerminalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Makes the actual state match the spec of the object `key`. Calls for different keys may run
/// concurrently; calls for one key never do.
using Reconciler = std::function<Result(const ObjectKey& key, Context& context)>;

/// An exception of a reconcile function.
struct ReconcileError {
  std::string message = {};  ///< what()
  /// The type, for example "std::out_of_range". Empty if it adds nothing to the message: for
  /// std::runtime_error, and for the exceptions of kopp.
  std::string type = {};
  int retries = 0;         ///< Context::retries of the reconcile
  bool terminal = false;   ///< it is a TerminalError: there will be no retry
  bool timed_out = false;  ///< the reconcile exceeded ControllerOptions::reconcile_timeout

  /// Returns the type and the message, as logs have them: "std::out_of_range: map::at".
  [[nodiscard]] std::string ToString() const {
    return type.empty() ? message : type + ": " + message;
  }
};

/// Called after a reconcile that threw. See ControllerOptions::on_error.
using ErrorHook = std::function<void(const ReconcileError& error, Context& context)>;

}  // namespace kopp
