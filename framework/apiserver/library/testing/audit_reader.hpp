#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Extracts the writes and Events of one user from an audit log. Immutable and thread-safe.
class AuditReader {
 public:
  /// `audit_log` contains audit.k8s.io/v1 Events, as ApiServer::Requests() returns them.
  AuditReader(const std::vector<nlohmann::json>& audit_log, const std::string& user);

  struct Write {
    std::string operation{};  ///< "create deployments default/web"
    std::string error{};      ///< ": 409 Conflict"; empty on success
    nlohmann::json request_object{};
  };
  /// Returns all writes except those of Events and Leases, oldest first.
  [[nodiscard]] const std::vector<Write>& writes() const { return writes_; }
  /// Returns the last requests of all kinds, at most kMaxLastRequests, oldest first: "watch foos",
  /// "get foos default/foo: 404 NotFound".
  [[nodiscard]] const std::vector<std::string>& last_requests() const { return last_requests_; }
  /// Returns the Events that the user created, oldest first: "Warning ErrResourceExists: it is not
  /// ours".
  [[nodiscard]] const std::vector<std::string>& events() const { return events_; }

  static constexpr std::size_t kMaxLastRequests = 5;

 private:
  std::vector<Write> writes_;
  std::vector<std::string> last_requests_;
  std::vector<std::string> events_;
};

}  // namespace kopp::apiserver
