#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <string>

#include <kopp/controller/reconcile_event.hpp>
#include <kopp/reconcile.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The result or the exception of a reconcile function.
struct ReconcileOutcome {
  ReconcileResult result = ReconcileResult::kError;
  Result returned = {};         ///< empty if it threw
  ReconcileError error = {};    ///< empty if it did not throw
  bool panic = false;           ///< it threw an object that is not a std::exception
  bool expected = false;        ///< a retry resolves the error: it is not worth an error line
  bool foreign_object = false;  ///< it threw ForeignObjectError
  bool timed_out = false;       ///< it exceeded ControllerOptions::reconcile_timeout
  bool superseded = false;      ///< it threw after a newer event had cancelled it: not an error
  std::string backtrace{};      ///< of the exception; "" if it is not known: see ThrowTrace
  Duration retry_after{};       ///< the shortest delay before a retry
  Duration duration{};

  /// Returns whether the key waits for a delay of the limiter, or failed and waits for a change.
  [[nodiscard]] bool IsFailure() const;
};

/// The number of reconciles by result since the start. Thread-safe.
struct ReconcileCounts {
  std::atomic<std::uint64_t> success{0};
  std::atomic<std::uint64_t> requeue_after{0};
  std::atomic<std::uint64_t> requeue{0};
  std::atomic<std::uint64_t> error{0};
  std::atomic<std::uint64_t> terminal_error{0};  // also counted as error

  void Add(const ReconcileOutcome& outcome);
};

/// Calls a reconcile function and catches its exceptions. Does not set the members that depend on
/// time. `shutdown` is the stop token that is requested when the process shuts down. Throws only if
/// there is no memory.
[[nodiscard]] ReconcileOutcome CallReconciler(const Reconciler& reconcile, const ObjectKey& key,
                                              Context& context, const std::stop_token& shutdown);

}  // namespace kopp
