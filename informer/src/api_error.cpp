#include <algorithm>
#include <chrono>
#include <utility>

#include <kopp/informer/api_error.hpp>

namespace kopp {
namespace {

std::string What(std::string_view asked, const Status& status) {
  std::string what{asked};
  what += ": " + std::to_string(status.code);
  if (!status.reason.empty()) what += " " + status.reason;
  if (!status.message.empty()) what += ": " + status.message;
  return what;
}

/// The beginning of what was to be a Status, fit for a line of log.
std::string Quote(std::string_view body) {
  std::string quote{body.substr(0, 200)};
  std::replace_if(
      quote.begin(), quote.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return quote.empty() ? "the answer has no body" : "the answer is no Status but: " + quote;
}

}  // namespace

ApiError::ApiError(std::string_view asked, Status status)
    : std::runtime_error(What(asked, status)), status_(std::move(status)) {
  if (status_.details.retryAfterSeconds) {
    retry_after_ = std::chrono::seconds(*status_.details.retryAfterSeconds);
  }
}

ApiError ApiError::FromBody(std::string_view asked, int http_status, std::string_view body,
                            std::optional<Duration> retry_after) {
  Status status;
  try {
    status = Decode<Status>(body);
  } catch (const DecodeError&) {
    status.message = Quote(body);
  }
  status.code = http_status;
  ApiError error{asked, std::move(status)};
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
