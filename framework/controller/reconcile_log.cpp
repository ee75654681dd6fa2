#include "reconcile_log.hpp"

#include <chrono>

namespace kopp {
namespace {

double InSeconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

void LogFailure(const Logger& log, const ReconcileOutcome& outcome) {
  const double duration = InSeconds(outcome.duration);
  if (outcome.expected) {
    log.Info("Reconcile failed with an expected error, retrying",
             {{"err", outcome.error.ToString()}, {"durationSeconds", duration}});
  } else if (outcome.error.terminal) {
    log.Error("Reconciler error", {{"err", "terminal error: " + outcome.error.ToString()},
                                   {"retry", "not until the object changes"},
                                   {"durationSeconds", duration}});
  } else {
    log.Error("Reconciler error", {{"err", outcome.error.ToString()},
                                   {"retries", outcome.error.retries},
                                   {"durationSeconds", duration}});
  }
  if (outcome.expected || outcome.backtrace.empty()) return;
  log.V(1).Info("Place of the exception", {{"stacktrace", outcome.backtrace}});
}

}  // namespace

void ReconcileLog::Started(const Logger& log, int retries,
                           std::optional<Duration> queue_wait) const {
  if (!starts_.Enabled()) return;
  if (queue_wait) {
    log.V(5).Info("Reconciling",
                  {{"retries", retries}, {"queueWaitSeconds", InSeconds(*queue_wait)}});
  } else {
    log.V(5).Info("Reconciling", {{"retries", retries}});
  }
}

void ReconcileLog::Triggered(const Logger& log, const Reasons& reasons) const {
  if (!results_.Enabled()) return;
  log.V(4).Info("Reconcile triggered", {{"reasons", reasons.ToString()}});
}

void ReconcileLog::Ended(const Logger& log, const ReconcileOutcome& outcome) const {
  if (outcome.result == ReconcileResult::kError) return LogFailure(log, outcome);
  const double duration = InSeconds(outcome.duration);
  if (outcome.superseded) {
    return log.Info("Reconcile superseded by a newer event",
                    {{"reason", outcome.error.ToString()}, {"durationSeconds", duration}});
  }
  if (outcome.timed_out) {
    log.Info("The reconcile returned without an error after its reconcile_timeout",
             {{"durationSeconds", duration}});
  }
  if (!results_.Enabled()) return;
  const std::string_view result = ToString(outcome.result);
  if (outcome.result == ReconcileResult::kRequeueAfter) {
    log.V(4).Info("Reconcile done, requeueing",
                  {{"result", result},
                   {"requeueAfterSeconds", InSeconds(outcome.returned.requeue_after)},
                   {"durationSeconds", duration}});
  } else {
    log.V(4).Info(outcome.result == ReconcileResult::kSuccess ? "Reconcile successful"
                                                              : "Reconcile done, requeueing",
                  {{"result", result}, {"durationSeconds", duration}});
  }
}

void ReconcileLog::Paused(const ObjectKey& key) const {
  if (!results_.Enabled()) return;
  results_.Info("The object is paused by its annotation, not reconciled",
                {{"namespace", key.ns}, {"name", key.name}});
}

void ReconcileLog::Failed(const ObjectKey& key, std::string_view message,
                          std::string_view error) const {
  try {
    log_.Error(message, {{"namespace", key.ns}, {"name", key.name}, {"err", error}});
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is no memory for the fields
  }
}

}  // namespace kopp
