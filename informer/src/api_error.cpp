#include <algorithm>
#include <chrono>
#include <utility>

#include <kopp/informer/api_error.hpp>

namespace kopp {
namespace {

std::string FormatMessage(std::string_view request, const Status& status) {
  std::string message{request};
  message += ": " + std::to_string(status.code);
  if (!status.reason.empty()) message += " " + status.reason;
  if (!status.message.empty()) message += ": " + status.message;
  return message;
}

/// Describes a body that is not a Status: its first 200 bytes, as a single line.
std::string DescribeUnexpectedBody(std::string_view body) {
  std::string text{body.substr(0, 200)};
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text.empty() ? "the response has no body" : "the response body is not a Status: " + text;
}

}  // namespace

ApiError::ApiError(std::string_view request, Status status)
    : std::runtime_error(FormatMessage(request, status)), status_(std::move(status)) {
  if (status_.details.retryAfterSeconds) {
    retry_after_ = std::chrono::seconds(*status_.details.retryAfterSeconds);
  }
}

ApiError ApiError::FromBody(std::string_view request, int http_status, std::string_view body,
                            std::optional<Duration> retry_after) {
  Status status;
  try {
    status = Decode<Status>(body);
  } catch (const DecodeError&) {
    status.message = DescribeUnexpectedBody(body);
  }
  status.code = http_status;
  ApiError error{request, std::move(status)};
  if (retry_after) error.retry_after_ = retry_after;
  return error;
}

bool ApiError::IsTooLargeVersion() const {
  const auto& causes = status_.details.causes;
  return std::any_of(causes.begin(), causes.end(),
                     [](const Status::Cause& cause) {
                       return cause.reason == "ResourceVersionTooLarge";
                     }) ||
         status_.message.find("Too large resource version") != std::string::npos;
}

}  // namespace kopp
