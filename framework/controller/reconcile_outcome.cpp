#include "reconcile_outcome.hpp"

#include "base/throw_trace.hpp"

#include <exception>

#include <kopp/foreign_object_error.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer/detail/exception_text.hpp>
#include <kopp/informer/detail/retry_after.hpp>
#include <kopp/not_leader_error.hpp>
#include <kopp/read_your_writes.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/random_source.hpp>

namespace kopp {
namespace {

// An error that usually ends without help is reported after this number of retries: 20 s with the
// default limiter.
constexpr int kExpectedRetries = 12;

ReconcileResult ResultOf(const Result& result) {
  if (result.requeue_after != Duration::zero()) return ReconcileResult::kRequeueAfter;
  return result.backoff ? ReconcileResult::kRequeue : ReconcileResult::kSuccess;
}

/// Returns whether the error is normal in a cluster, and ends without help: another client has
/// written the object, or its namespace is being deleted. A conflict of field managers remains.
bool IsExpected(const ApiError& error) {
  return error.IsNamespaceTerminating() ||
         (error.IsConflict() && !error.HasCause("FieldManagerConflict"));
}

}  // namespace

std::string_view ToString(ReconcileResult result) {
  switch (result) {
    case ReconcileResult::kSuccess:
      return "success";
    case ReconcileResult::kRequeueAfter:
      return "requeue_after";
    case ReconcileResult::kRequeue:
      return "requeue";
    case ReconcileResult::kError:
      break;
  }
  return "error";
}

bool ReconcileOutcome::IsFailure() const {
  if (result == ReconcileResult::kRequeueAfter) return returned.requeue_after < Duration::zero();
  return result != ReconcileResult::kSuccess;
}

void ReconcileCounts::Add(const ReconcileOutcome& outcome) {
  switch (outcome.result) {
    case ReconcileResult::kSuccess:
      ++success;
      break;
    case ReconcileResult::kRequeueAfter:
      ++requeue_after;
      break;
    case ReconcileResult::kRequeue:
      ++requeue;
      break;
    case ReconcileResult::kError:
      ++error;
      if (outcome.error.terminal) ++terminal_error;
      break;
  }
}

ReconcileOutcome CallReconciler(const Reconciler& reconcile, const ObjectKey& key, Context& context,
                                const std::stop_token& shutdown) {
  ReconcileOutcome outcome;
  const detail::ThrowTrace trace(context.log.V(1).Enabled());
  const auto set_error = [&outcome](const std::exception& error) {
    outcome.error.message = error.what();
    outcome.error.type = detail::ExceptionType(error);
    outcome.backtrace = detail::ThrowTrace::Of(error);
  };
  try {
    outcome.returned = reconcile(key, context);
    outcome.result = ResultOf(outcome.returned);
  } catch (const TerminalError& error) {
    set_error(error);
    outcome.error.terminal = true;
  } catch (const ApiError& error) {
    set_error(error);
    outcome.expected = IsExpected(error);
    outcome.retry_after = RetryAfterDelay(error.retry_after(), workqueue::SystemRandom());
  } catch (const ForeignObjectError& error) {
    set_error(error);
    outcome.expected = error.belongs_to_former_owner() && context.retries < kExpectedRetries;
    outcome.foreign_object = !outcome.expected;
  } catch (const StaleCacheError& error) {
    set_error(error);
    outcome.expected = true;
  } catch (const NotLeaderError& error) {
    set_error(error);
    outcome.expected = true;
  } catch (const TransportError& error) {
    set_error(error);
    outcome.expected =
        error.kind() == TransportError::Kind::kCancelled && shutdown.stop_requested();
  } catch (const std::exception& error) {
    set_error(error);
  } catch (...) {
    outcome.error.message = "the reconciler threw an object that is not a std::exception";
    outcome.panic = true;
  }
  if (outcome.result == ReconcileResult::kError) outcome.error.retries = context.retries;
  return outcome;
}

}  // namespace kopp
