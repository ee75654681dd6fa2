#pragma once

#include <concepts>
#include <stop_token>
#include <type_traits>

#include <kopp/informer/api_error.hpp>
#include <kopp/workqueue/retry.hpp>

namespace kopp {

using workqueue::kDefaultBackoff;
using workqueue::kDefaultRetry;

/// Calls `update`, and retries it after a delay while it throws an ApiError with IsConflict(): the
/// object was changed since it was read. Calls it at most backoff.steps times. Returns the result
/// of `update`. Throws the last conflict after the last step or when a stop is requested, and any
/// other exception immediately. Blocks during the delays. Same as workqueue::OnError<ApiError> with
/// &ApiError::IsConflict.
///
/// Each call of `update` must read the object again; otherwise it conflicts again.
///
///     RetryOnConflict(kDefaultRetry, [&] {
///       auto web = ctx.client.Dynamic(Deployment::kKind).Get(key).value().Json();
///       web["spec"]["replicas"] = 3;
///       ctx.client.Update<Deployment>(web);
///     }, ctx.stop);
///
/// A reconcile function rarely needs it: let it throw the conflict, and the queue retries. Apply,
/// and Patch without a resourceVersion, do not cause conflicts.
template <std::invocable Update>
std::invoke_result_t<Update&> RetryOnConflict(const workqueue::RetryBackoff& backoff,
                                              Update&& update, const std::stop_token& stop = {}) {
  return workqueue::OnError<ApiError>(backoff, &ApiError::IsConflict, update, stop);
}

/// The same with a clock and a source of random numbers, for tests.
template <std::invocable Update>
std::invoke_result_t<Update&> RetryOnConflict(const workqueue::RetryBackoff& backoff,
                                              Update&& update,
                                              const workqueue::RetryOptions& options,
                                              const std::stop_token& stop = {}) {
  return workqueue::OnError<ApiError>(backoff, &ApiError::IsConflict, update, options, stop);
}

}  // namespace kopp
