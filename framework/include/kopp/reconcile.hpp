#pragma once

#include <functional>
#include <stdexcept>
#include <stop_token>

#include <kopp/cache.hpp>
#include <kopp/client.hpp>
#include <kopp/events.hpp>
#include <kopp/log.hpp>
#include <kopp/reason.hpp>

namespace kopp {

/// Passed to a reconcile function. All members are thread-safe, and valid until the function
/// returns.
struct Context {
  ObjectKey key;         ///< the object to reconcile
  const Client& client;  ///< reads and writes at the API server
  /// Local copies. They contain the writes of `client`; a read may wait for them and throw
  /// StaleCacheError. Changes by others may arrive later.
  const Cache& cache;
  EventRecorder& events;  ///< records Kubernetes Events
  Logger log;             ///< adds the controller and the object to each line
  /// A stop is requested when the process shuts down, and with
  /// ControllerOptions::cancel_superseded when a newer event comes: return early.
  std::stop_token stop;
  Reasons reasons = {};  ///< why the key was queued; empty unless ControllerOptions::reasons is set
  std::function<bool()> is_superseded = {};  ///< for Superseded

  /// Returns whether a newer event of the object has come since this reconcile started. The object
  /// will then be reconciled once more, so a long reconcile may return early.
  [[nodiscard]] bool Superseded() const { return is_superseded && is_superseded(); }
};

/// The result of a reconcile that did not throw. `{}`: reconcile again when something changes.
struct Result {
  Duration requeue_after{};  ///< reconcile again after this time even without a change; 0: do not
};

/// Thrown by a reconcile function if a retry cannot help, for example because the spec is invalid.
/// The error is logged and counted, and the object is not reconciled until it changes or until the
/// next resync. After any other exception, the reconcile is retried with back-off.
class TerminalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Makes the actual state match the spec of the object `key`. Calls for different keys may run
/// concurrently; calls for one key never do.
using Reconciler = std::function<Result(const ObjectKey& key, Context& context)>;

}  // namespace kopp
