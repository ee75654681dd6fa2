#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Keeps the last 30 lines of a log. Thread-safe.
class LogTail {
 public:
  void Write(std::string_view line) {
    auto lines = lines_.Lock();
    if (lines->size() == kLines) lines->pop_front();
    lines->emplace_back(line);
  }

  [[nodiscard]] std::string Text() const {
    auto lines = lines_.Lock();
    std::string text;
    for (const std::string& line : *lines) text += line;
    return text;
  }

 private:
  static constexpr std::size_t kLines = 30;

  mutable detail::Guarded<std::deque<std::string>> lines_;
};

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
