#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include <kopp/controller/reason.hpp>
#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// How a reconcile ended: the label `result` of controller_runtime_reconcile_total.
enum class ReconcileResult {
  kSuccess,       ///< it returned `{}`
  kRequeueAfter,  ///< it returned a Result with requeue_after
  kRequeue,       ///< it returned a Result with backoff
  kError,         ///< it threw
};
/// Returns "success", "requeue_after", "requeue" or "error".
[[nodiscard]] std::string_view ToString(ReconcileResult result);

/// A reconcile that has ended, for metrics and debug pages. The references and string views are
/// valid during the call.
struct ReconcileEvent {
  std::string_view controller;  ///< ControllerOptions::name
  const ObjectKey& key;
  std::string_view reconcile_id;            ///< see Context::reconcile_id
  std::optional<Duration> queue_wait = {};  ///< see Context::queue_wait
  ReconcileResult result = ReconcileResult::kSuccess;
  std::string_view error = {};  ///< ReconcileError::ToString(); empty: none
  int retries = 0;              ///< see Context::retries
  bool terminal = false;        ///< it threw a TerminalError
  bool panic = false;           ///< it threw an object that is not a std::exception
  bool timed_out = false;       ///< it exceeded ControllerOptions::reconcile_timeout
  Duration duration{};          ///< of the call of the reconcile function
  Reasons reasons = {};         ///< see Context::reasons
};

/// Called by the worker after each reconcile. Calls may be concurrent. Exceptions are ignored.
using ReconcileObserver = std::function<void(const ReconcileEvent& event)>;

}  // namespace kopp
