#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/informer/fields.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The body of an error response: metav1.Status.
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

KOPP_DECLARE_FIELDS(Status::Cause)
KOPP_DECLARE_FIELDS(Status::Details)
KOPP_DECLARE_FIELDS(Status)

/// Thrown if the API server rejects a request. Go: errors.StatusError in k8s.io/apimachinery.
///
/// what() has the request, the status and, if there is something to do about it, what to do:
/// `PATCH /apis/…/foos/a/status: 403 Forbidden: foos "a" is forbidden: User "x" cannot patch …
/// (grant verb patch on foos/status in API group samplecontroller.k8s.io)`.
///
/// The predicates are those of k8s.io/apimachinery. They compare the reason. For a status without a
/// reason that Kubernetes defines, such as the error page of a proxy, they compare the code
/// instead, unless their comment says otherwise.
class ApiError : public std::runtime_error {
 public:
  /// `request` is the method and target of the request, such as "GET /api/v1/pods"; for informers,
  /// LIST and WATCH instead of GET. retry_after() is `status.details.retryAfterSeconds`.
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
  /// Returns the causes of the failure, for example each invalid field.
  [[nodiscard]] const std::vector<Status::Cause>& causes() const { return status_.details.causes; }
  /// Returns whether one of the causes has this reason, such as "FieldManagerConflict".
  [[nodiscard]] bool HasCause(std::string_view reason) const;
  /// Returns the time to wait before a retry, if the server has sent one. It may be very long: see
  /// RetryAfterDelay.
  [[nodiscard]] std::optional<Duration> retry_after() const { return retry_after_; }

  [[nodiscard]] bool IsBadRequest() const { return Is("BadRequest", 400); }
  [[nodiscard]] bool IsUnauthorized() const { return Is("Unauthorized", 401); }
  [[nodiscard]] bool IsForbidden() const { return Is("Forbidden", 403); }
  [[nodiscard]] bool IsNotFound() const { return Is("NotFound", 404); }
  [[nodiscard]] bool IsMethodNotSupported() const { return Is("MethodNotAllowed", 405); }
  [[nodiscard]] bool IsNotAcceptable() const { return Is("NotAcceptable", 406); }
  /// Compares the reason only, because other conflicts have the same code.
  [[nodiscard]] bool IsAlreadyExists() const { return reason() == "AlreadyExists"; }
  /// Returns whether the object was modified since it was read, or another field manager owns an
  /// applied field: a 409 other than AlreadyExists.
  [[nodiscard]] bool IsConflict() const { return Is("Conflict", 409); }
  /// Returns whether the requested resource version, or the continue token of a list, is too old:
  /// the server has compacted it. List again. True for the reasons Gone and Expired and for each
  /// 410.
  [[nodiscard]] bool IsGone() const { return code() == 410 || IsExpired() || reason() == "Gone"; }
  /// Compares the reason only: a 410 of a list or watch. See IsGone.
  [[nodiscard]] bool IsExpired() const { return reason() == "Expired"; }
  [[nodiscard]] bool IsRequestEntityTooLarge() const { return Is("RequestEntityTooLarge", 413); }
  [[nodiscard]] bool IsUnsupportedMediaType() const { return Is("UnsupportedMediaType", 415); }
  /// Returns whether the object to write is invalid; causes() has the fields.
  [[nodiscard]] bool IsInvalid() const { return Is("Invalid", 422); }
  /// True for each 429, whatever its reason.
  [[nodiscard]] bool IsTooManyRequests() const {
    return code() == 429 || reason() == "TooManyRequests";
  }
  [[nodiscard]] bool IsInternalError() const { return Is("InternalError", 500); }
  /// Compares the reason only: the API server cannot complete the request in a reasonable time. It
  /// may have executed it nevertheless.
  [[nodiscard]] bool IsServerTimeout() const { return reason() == "ServerTimeout"; }
  [[nodiscard]] bool IsServiceUnavailable() const { return Is("ServiceUnavailable", 503); }
  /// Returns whether the request timed out in the API server, which may have executed it
  /// nevertheless.
  [[nodiscard]] bool IsTimeout() const { return Is("Timeout", 504); }
  /// Returns whether the status is 5xx.
  [[nodiscard]] bool IsServerFault() const { return code() >= 500; }
  /// Returns whether a create was rejected because its namespace is being deleted. Go:
  /// HasStatusCause with NamespaceTerminatingCause.
  [[nodiscard]] bool IsNamespaceTerminating() const { return HasCause("NamespaceTerminating"); }
  /// Returns whether the requested resource version is newer than the newest version of the server
  /// ("Too large resource version"). This happens behind a load balancer, or after etcd was
  /// restored.
  [[nodiscard]] bool IsTooLargeVersion() const;

 private:
  /// Returns whether the reason is `reason`, or unknown and the code is `code`.
  [[nodiscard]] bool Is(std::string_view reason, int code) const;

  Status status_;
  std::optional<Duration> retry_after_;
};

}  // namespace kopp
