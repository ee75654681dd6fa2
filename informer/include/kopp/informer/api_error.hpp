#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/informer/fields.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The body of the response to a failed request: metav1.Status.
struct Status {
  /// One reason of the failure, for example one invalid field: metav1.StatusCause.
  struct Cause {
    std::string reason = {};
    std::string message = {};
    std::string field = {};
  };
  /// The object of the failed request and the causes of the failure: metav1.StatusDetails.
  struct Details {
    std::string name = {};
    std::string group = {};
    std::string kind = {};
    std::vector<Cause> causes = {};
    std::optional<int> retryAfterSeconds = {};  ///< wait this long before a retry
  };
  std::string message = {};
  std::string reason = {};  ///< metav1.StatusReason: "NotFound", "Conflict", "Expired" …
  int code = 0;             ///< the HTTP status code
  Details details = {};
};

KOPP_FIELDS(Status::Cause, reason, message, field)
KOPP_FIELDS(Status::Details, name, group, kind, causes, retryAfterSeconds)
KOPP_FIELDS(Status, message, reason, code, details)

/// Thrown if the API server rejects a request. Go: errors.StatusError in k8s.io/apimachinery.
///
/// what() has the request and the status:
/// `PUT /apis/…/foos/a: 409 Conflict: the object has been modified`.
class ApiError : public std::runtime_error {
 public:
  /// `request` describes the request in messages, for example "GET /api/v1/pods". retry_after() is
  /// `status.details.retryAfterSeconds`.
  ApiError(std::string_view request, Status status);

  /// Creates an error from an HTTP response. code() is `http_status`, even if the body has another
  /// one. If the body is not a Status (an error page of a proxy, for example), the message quotes
  /// its beginning. `retry_after` is the value of the Retry-After header; it takes precedence over
  /// the body.
  static ApiError FromBody(std::string_view request, int http_status, std::string_view body,
                           std::optional<Duration> retry_after = {});

  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] int code() const { return status_.code; }
  [[nodiscard]] const std::string& reason() const { return status_.reason; }
  /// Returns the time to wait before a retry, if the server has sent one.
  [[nodiscard]] std::optional<Duration> retry_after() const { return retry_after_; }

  [[nodiscard]] bool IsNotFound() const { return code() == 404; }
  [[nodiscard]] bool IsAlreadyExists() const { return reason() == "AlreadyExists"; }
  /// Returns whether the object was modified since it was read: a 409 other than AlreadyExists.
  [[nodiscard]] bool IsConflict() const { return code() == 409 && !IsAlreadyExists(); }
  [[nodiscard]] bool IsInvalid() const { return code() == 422; }
  [[nodiscard]] bool IsForbidden() const { return code() == 403; }
  [[nodiscard]] bool IsUnauthorized() const { return code() == 401; }
  [[nodiscard]] bool IsTooManyRequests() const { return code() == 429; }
  /// Returns whether the status is 5xx.
  [[nodiscard]] bool IsServerFault() const { return code() >= 500; }

  /// Returns whether the requested resource version, or the continue token of a list, is too old:
  /// the server has compacted it. List again.
  [[nodiscard]] bool IsGone() const {
    return code() == 410 || reason() == "Expired" || reason() == "Gone";
  }
  /// Returns whether the requested resource version is newer than the newest version of the server
  /// ("Too large resource version"). This happens behind a load balancer, or after etcd was
  /// restored.
  [[nodiscard]] bool IsTooLargeVersion() const;

 private:
  Status status_;
  std::optional<Duration> retry_after_;
};

}  // namespace kopp
