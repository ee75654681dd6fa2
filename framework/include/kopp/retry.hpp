#pragma once

#include <concepts>
#include <stop_token>
#include <type_traits>

#include <kopp/informer/api_error.hpp>
#include <kopp/workqueue/retry.hpp>

namespace kopp {

using workqueue::kDefaultBackoff;
using workqueue::kDefaultRetry;

/// Calls `update` until it returns, and returns what it returned. When the API server refuses it
/// for a conflict (somebody else changed the object since it was read), waits and tries again, up
/// to backoff.steps times in all; then, as for any other failure, throws what the last try threw.
/// Short for workqueue::OnError<ApiError> with &ApiError::IsConflict.
///
/// Requires: each call of `update` reads the object anew; what was read before conflicts again.
///
///     RetryOnConflict(kDefaultRetry, [&] {
///       auto web = ctx.client.Get(Deployment::kKind, key).value();
///       web["spec"]["replicas"] = 3;
///       ctx.client.Update(Deployment::kKind, web);
///     }, ctx.stop);
///
/// A reconciler seldom needs it: let the conflict be thrown, and the queue tries again. Nor does
/// whoever writes with Apply, or with a Patch that names no resourceVersion.
template <std::invocable Update>
std::invoke_result_t<Update&> RetryOnConflict(const workqueue::RetryBackoff& backoff,
                                              Update&& update, const std::stop_token& stop = {}) {
  return workqueue::OnError<ApiError>(backoff, &ApiError::IsConflict, update, stop);
}

/// The same on another clock.
template <std::invocable Update>
std::invoke_result_t<Update&> RetryOnConflict(const workqueue::RetryBackoff& backoff,
                                              Update&& update,
                                              const workqueue::RetryOptions& options,
                                              const std::stop_token& stop = {}) {
  return workqueue::OnError<ApiError>(backoff, &ApiError::IsConflict, update, options, stop);
}

}  // namespace kopp
