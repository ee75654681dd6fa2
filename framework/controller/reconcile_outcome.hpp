#pragma once

#include <stop_token>
#include <string>

#include <kopp/controller/reconcile_event.hpp>
#include <kopp/reconcile.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// What a reconcile function returned or threw.
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
};

/// Calls a reconcile function and catches its exceptions. Does not set the members that depend on
/// time. `shutdown` is the stop token that is requested when the process shuts down. Throws only if
/// there is no memory.
[[nodiscard]] ReconcileOutcome CallReconciler(const Reconciler& reconcile, const ObjectKey& key,
                                              Context& context, const std::stop_token& shutdown);

}  // namespace kopp
