#pragma once

#include "resource.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// One of the reasons for which an object is refused.
struct Cause {
  std::string reason{};   ///< "FieldValueInvalid"
  std::string message{};  ///< "Invalid value: …"
  std::string field{};    ///< "spec.replicas"
};
using Causes = std::vector<Cause>;

/// An answer that is no success: a Status object, thrown from wherever it becomes clear.
class Refusal : public std::runtime_error {
 public:
  Refusal(int code, std::string reason, const std::string& message,
          nlohmann::json details = nullptr, nlohmann::json metadata = nlohmann::json::object());

  [[nodiscard]] int code() const { return code_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Seconds after which to try again, where that may help.
  [[nodiscard]] std::optional<int> retry_after() const;
  /// The Status.
  [[nodiscard]] nlohmann::json ToJson() const;

 private:
  int code_;
  std::string reason_;
  nlohmann::json details_;
  nlohmann::json metadata_;
};

[[nodiscard]] Refusal BadRequest(const std::string& message);
[[nodiscard]] Refusal NoSuchPath();
[[nodiscard]] Refusal MethodNotAllowed();
[[nodiscard]] Refusal NotFound(const Resource& resource, const std::string& name);
[[nodiscard]] Refusal AlreadyExists(const Resource& resource, const std::string& name,
                                    bool is_being_deleted);
[[nodiscard]] Refusal Conflict(const Resource& resource, const std::string& name,
                               const std::string& why);
/// A write of a state that is not the newest any more.
[[nodiscard]] Refusal Modified(const Resource& resource, const std::string& name);
[[nodiscard]] Refusal Forbidden(const Resource& resource, const std::string& name,
                                const std::string& why, nlohmann::json causes = nullptr);
[[nodiscard]] Refusal Invalid(const Resource& resource, const std::string& name,
                              const Causes& causes);
/// `metadata`: of the Status.
[[nodiscard]] Refusal Expired(const std::string& message,
                              nlohmann::json metadata = nlohmann::json::object());

// Causes in the words of the real server.
[[nodiscard]] Cause Required(std::string field, const std::string& detail);
[[nodiscard]] Cause InvalidValue(std::string field, const nlohmann::json& value,
                                 const std::string& detail);
[[nodiscard]] Cause ForbiddenField(std::string field, const std::string& detail);
[[nodiscard]] Cause Duplicate(std::string field, const nlohmann::json& value);
[[nodiscard]] Cause TooLong(std::string field, std::size_t max);
[[nodiscard]] Cause NotSupported(std::string field, const nlohmann::json& value,
                                 const std::vector<std::string>& supported);

}  // namespace kopp::apiserver
