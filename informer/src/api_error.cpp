#include "api_error_hint.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <kopp/informer/api_error.hpp>
#include <kopp/informer/detail/response_text.hpp>

namespace kopp {

KOPP_DEFINE_FIELDS(Status::Cause, reason, message, field)
KOPP_DEFINE_FIELDS(Status::Details, name, group, kind, causes, retryAfterSeconds)
KOPP_DEFINE_FIELDS(Status, message, reason, code, details)

namespace {

std::string FormatMessage(std::string_view request, const Status& status) {
  std::string message{request};
  message += ": " + std::to_string(status.code);
  if (!status.reason.empty()) message += " " + status.reason;
  if (!status.message.empty()) message += ": " + status.message;
  const std::string hint = detail::ApiErrorHint(request, status);
  return hint.empty() ? message : message + " (" + hint + ")";
}

// The values of metav1.StatusReason.
constexpr std::array<std::string_view, 21> kKnownReasons{"AlreadyExists",
                                                         "BadRequest",
                                                         "Conflict",
                                                         "Expired",
                                                         "Forbidden",
                                                         "Gone",
                                                         "InternalError",
                                                         "Invalid",
                                                         "MethodNotAllowed",
                                                         "NotAcceptable",
                                                         "NotFound",
                                                         "RequestEntityTooLarge",
                                                         "ServerTimeout",
                                                         "ServiceUnavailable",
                                                         "StorageReadError",
                                                         "StoreReadError",
                                                         "Timeout",
                                                         "TooManyRequests",
                                                         "Unauthorized",
                                                         "UnknownReason",
                                                         "UnsupportedMediaType"};

}  // namespace

ApiError::ApiError(std::string_view request, Status status)
    : std::runtime_error(FormatMessage(request, status)), status_(std::move(status)) {
  const auto seconds = status_.details.retryAfterSeconds;
  if (seconds && *seconds >= 0) retry_after_ = std::chrono::seconds(*seconds);
}

ApiError ApiError::FromBody(std::string_view request, int http_status, std::string_view body,
                            std::optional<Duration> retry_after) {
  Status status;
  try {
    status = Decode<Status>(body);
  } catch (const DecodeError&) {
    status.message = detail::DescribeBody(body);
  }
  const bool is_status = !status.message.empty() || !status.reason.empty() || status.code != 0;
  if (!is_status) status.message = detail::DescribeBody(body);
  status.code = http_status;
  ApiError error{request, std::move(status)};
  if (retry_after) error.retry_after_ = retry_after;
  return error;
}

bool ApiError::Is(std::string_view reason, int code) const {
  if (status_.reason == reason) return true;
  return status_.code == code && std::find(kKnownReasons.begin(), kKnownReasons.end(),
                                           status_.reason) == kKnownReasons.end();
}

bool ApiError::HasCause(std::string_view reason) const {
  return std::any_of(causes().begin(), causes().end(),
                     [&](const Status::Cause& cause) { return cause.reason == reason; });
}

bool ApiError::IsTooLargeVersion() const {
  return HasCause("ResourceVersionTooLarge") ||
         status_.message.find("Too large resource version") != std::string::npos;
}

}  // namespace kopp
