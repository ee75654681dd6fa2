#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/informer/fields.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// metav1.Status: how an API server says what went wrong.
struct Status {
  struct Cause {
    std::string reason = {};
    std::string message = {};
    std::string field = {};
  };
  struct Details {
    std::string name = {};
    std::string group = {};
    std::string kind = {};
    std::vector<Cause> causes = {};
    std::optional<int> retryAfterSeconds = {};
  };
  std::string message = {};
  std::string reason = {};  ///< "NotFound", "Conflict", "Expired" …
  int code = 0;             ///< the HTTP status
  Details details = {};
};

KOPP_FIELDS(Status::Cause, reason, message, field)
KOPP_FIELDS(Status::Details, name, group, kind, causes, retryAfterSeconds)
KOPP_FIELDS(Status, message, reason, code, details)

/// The API server's refusal. what() says what was asked and what came back:
/// `PUT /apis/…/foos/a: 409 Conflict: the object has been modified`.
class ApiError : public std::runtime_error {
 public:
  ApiError(std::string_view asked, Status status);

  /// From the body of an HTTP answer; a body that is no Status (from a proxy, say) is quoted.
  static ApiError FromBody(std::string_view asked, int http_status, std::string_view body,
                           std::optional<Duration> retry_after = {});

  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] int code() const { return status_.code; }
  [[nodiscard]] const std::string& reason() const { return status_.reason; }
  [[nodiscard]] std::optional<Duration> retry_after() const { return retry_after_; }

  [[nodiscard]] bool IsNotFound() const { return code() == 404; }
  [[nodiscard]] bool IsAlreadyExists() const { return reason() == "AlreadyExists"; }
  [[nodiscard]] bool IsConflict() const { return code() == 409 && !IsAlreadyExists(); }
  [[nodiscard]] bool IsInvalid() const { return code() == 422; }
  [[nodiscard]] bool IsForbidden() const { return code() == 403; }
  [[nodiscard]] bool IsUnauthorized() const { return code() == 401; }
  [[nodiscard]] bool IsTooManyRequests() const { return code() == 429; }
  [[nodiscard]] bool IsServerFault() const { return code() >= 500; }

  /// The version asked for is too old to be watched or listed from.
  [[nodiscard]] bool IsGone() const {
    return code() == 410 || reason() == "Expired" || reason() == "Gone";
  }
  /// The version asked for is newer than any that this server has seen.
  [[nodiscard]] bool IsTooLargeVersion() const;

 private:
  Status status_;
  std::optional<Duration> retry_after_;
};

}  // namespace kopp
