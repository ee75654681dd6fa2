#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/response.hpp"
#include "json/schema_names.hpp"
#include "schema/field_error.hpp"

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// An error response with a Status object. Handlers throw it; the API handler turns it into the
/// response.
class StatusError : public std::runtime_error {
 public:
  StatusError(int code, std::string reason, const std::string& message,
              nlohmann::json details = nullptr, nlohmann::json metadata = nlohmann::json::object());

  [[nodiscard]] int code() const { return code_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Returns the seconds after which the client may retry, or std::nullopt if a retry cannot help.
  [[nodiscard]] std::optional<int> retry_after() const;
  /// Returns the Status object.
  [[nodiscard]] nlohmann::json ToJson() const;

 private:
  int code_;
  std::string message_;  // may contain NUL, which ends what()
  std::string reason_;
  nlohmann::json details_;
  nlohmann::json metadata_;
};

[[nodiscard]] StatusError BadRequest(const std::string& message);
[[nodiscard]] StatusError PathNotFound();
[[nodiscard]] StatusError MethodNotAllowed();
[[nodiscard]] StatusError NotFound(const Resource& resource, const std::string& name);
[[nodiscard]] StatusError AlreadyExists(const Resource& resource, const std::string& name,
                                        bool is_being_deleted);
[[nodiscard]] StatusError Conflict(const Resource& resource, const std::string& name,
                                   const std::string& reason);
/// Returns the Conflict error for a write with an outdated resourceVersion.
[[nodiscard]] StatusError ResourceVersionConflict(const Resource& resource,
                                                  const std::string& name);
[[nodiscard]] StatusError Forbidden(const Resource& resource, const std::string& name,
                                    const std::string& reason, nlohmann::json errors = nullptr);
[[nodiscard]] StatusError Invalid(const Resource& resource, const std::string& name,
                                  const FieldErrors& errors);
/// Returns a 410 Expired error. `metadata` is the metadata of the Status.
[[nodiscard]] StatusError Expired(const std::string& message,
                                  nlohmann::json metadata = nlohmann::json::object());

/// The maximum size of a request body in bytes.
constexpr std::size_t kMaxBody = 3 << 20;

/// Returns a 413 Request Entity Too Large error.
[[nodiscard]] StatusError TooLarge(const std::string& reason);
/// Returns the 413 error for a body of more than kMaxBody bytes.
[[nodiscard]] StatusError BodyTooLarge();

/// Returns the response for an error.
[[nodiscard]] inline ServerResponse ToResponse(const StatusError& error) {
  return {.status = error.code(), .body = error.ToJson()};
}

}  // namespace kopp::apiserver
