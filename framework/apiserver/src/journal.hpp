#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// What one user wrote, read from an audit log.
class Journal {
 public:
  Journal(const std::vector<nlohmann::json>& audit_log, const std::string& user);

  struct Write {
    std::string what{};     ///< "create deployments default/web"
    std::string refusal{};  ///< ": 409 Conflict"; empty: it was done
    nlohmann::json sent{};
  };
  /// But for Events and Leases.
  [[nodiscard]] const std::vector<Write>& writes() const { return writes_; }
  /// The Events that were made: "Warning ErrResourceExists: it is not ours".
  [[nodiscard]] const std::vector<std::string>& events() const { return events_; }

 private:
  std::vector<Write> writes_;
  std::vector<std::string> events_;
};

}  // namespace kopp::apiserver
