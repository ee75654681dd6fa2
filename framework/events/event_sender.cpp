#include "event_sender.hpp"

#include "base/any_token.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include <kopp/dynamic_client.hpp>
#include <kopp/informer/detail/retry_after.hpp>

namespace kopp {
namespace {

using Outcome = SendResult::Outcome;

constexpr int kMaxNames = 5;  // of one Event
constexpr Duration kRetryInterval = std::chrono::seconds(10);

/// Returns whether the server asks for a later try. client-go: gives such an Event up.
bool IsTemporary(const ApiError& error) {
  return error.IsTooManyRequests() || error.IsServiceUnavailable() || error.IsServerTimeout() ||
         error.IsTimeout() || error.code() == 502;  // 502: a proxy does not reach the server
}

}  // namespace

SendResult EventSender::Try(EventRequest& request, bool may_exist) {
  try {
    SendInTime(request, may_exist);
    return {};
  } catch (const ApiError& error) {
    if (!IsTemporary(error)) return Rejected(request, error);
    return Retry(request, error,
                 std::max(kRetryInterval, error.retry_after().value_or(Duration::zero())));
  } catch (const TransportError& error) {
    if (error.kind() == TransportError::Kind::kCancelled) return Cancelled(request, error);
    return Retry(request, error, kRetryInterval);
  } catch (const std::exception& error) {
    log_.Error("Unable to write event", {{"err", error.what()}, {"event", request.key}});
    return {.outcome = Outcome::kRejected};
  }
}

SendResult EventSender::Retry(const EventRequest& request, const std::exception& error,
                              Duration delay) {
  log_.Error("Unable to write event (may retry after sleeping)",
             {{"err", error.what()}, {"event", request.key}});
  return {.outcome = Outcome::kRetry, .delay = RetryAfterDelay(delay, random_())};
}

/// The recorder is being stopped, or its replica is not the leader any more.
SendResult EventSender::Cancelled(const EventRequest& request, const std::exception& error) {
  log_.V(5).Info("Event not written", {{"err", error.what()}, {"event", request.key}});
  return {.outcome = Outcome::kRetry, .delay = kRetryInterval};
}

/// An Event that exists was written by a try without a response.
SendResult EventSender::Rejected(const EventRequest& request, const ApiError& error) {
  constexpr const char* kMessage = "Server rejected event (will not retry!)";
  const bool is_expected = error.IsAlreadyExists() || error.IsNamespaceTerminating();
  if (is_expected) {
    log_.V(5).Info(kMessage, {{"err", error.what()}, {"event", request.key}});
  } else {
    log_.Error(kMessage, {{"err", error.what()}, {"event", request.key}});
  }
  return {.outcome = is_expected ? Outcome::kWritten : Outcome::kRejected};
}

void EventSender::SendInTime(EventRequest& request, bool may_exist) {
  const std::stop_token limit = timer_.Start(SaturatingAdd(Clock::Real().Now(), try_timeout_));
  const detail::CancelWhenDone done(timer_);
  const detail::AnyToken end(client_.stop(), limit);
  try {
    Send(client_.With(end.get()), request, may_exist);
  } catch (const TransportError&) {
    if (!limit.stop_requested() || client_.stop().stop_requested()) throw;
    throw TransportError(TransportError::Kind::kTimeout,
                         "the API server did not respond to the write of an event in time");
  }
}

void EventSender::Send(const Client& client, EventRequest& request, bool may_exist) {
  if (!request.change.is_null()) {
    try {
      (void)client.Dynamic(aggregator_.kind()).Patch(request.key, Patch::Merge(request.change));
      return;
    } catch (const ApiError& error) {
      if (!error.IsNotFound()) throw;  // it has expired: create it again
    }
  }
  Create(client, request, may_exist);
}

/// Creates the Event, with another name if another recorder has used its name: a program that has
/// just ended, or one with the same fake time.
void EventSender::Create(const Client& client, EventRequest& request, bool may_exist) {
  for (int names = 1;; ++names) {
    try {
      (void)client.Dynamic(aggregator_.kind()).Create(request.body);
      return;
    } catch (const ApiError& error) {
      if (!error.IsAlreadyExists() || may_exist || names == kMaxNames) throw;
    }
    aggregator_.Rename(request);
  }
}

}  // namespace kopp
