#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// The resource, namespace and name of an object, as in "kubectl get deployments web -n default".
struct ObjectReference {
  std::string resource{};  ///< "deployments"
  std::string ns{};        ///< empty for a cluster-scoped object
  std::string name{};
};

/// Prints the requests to a server as a table. Each line has at most 79 columns. The table omits
/// get and list requests that succeed or return 404, and successful requests for Leases except
/// creates. It shows all other requests, and below a failed request up to six lines of the message
/// of its Status. Thread-safe.
class DemoLog {
 public:
  struct Options {
    std::string program_user{};  ///< user name of the demo's program; its requests are highlighted
    bool use_colors = false;
  };

  /// `out` must outlive the DemoLog. Only the DemoLog may write to it after Start().
  DemoLog(std::ostream& out, Options options);

  /// Prints the table heading. Requests before this call are ignored.
  void Start();
  /// Prints a request unless DemoLogLine() returns "" for it. `entry` is an audit.k8s.io/v1 Event
  /// as JSON. Throws nlohmann::json::parse_error if `entry` is not valid JSON.
  void LogRequest(std::string_view entry);
  /// Prints text between two lines of the table.
  void Print(std::string_view text);

  /// Returns false after a write to the output has failed, for example to a closed pipe.
  [[nodiscard]] bool is_output_open() const;
  /// Returns the plural names ("deployments") of the resources that the program has watched,
  /// ordered by the time of the first watch of each.
  [[nodiscard]] std::vector<std::string> watched_resources() const;
  /// Returns the first object that the program has created or changed, except Events and Leases.
  /// Returns std::nullopt before that.
  [[nodiscard]] std::optional<ObjectReference> first_object() const;
  /// Returns the time of the program's last successful request, or TimePoint() before the first
  /// one.
  [[nodiscard]] TimePoint last_activity() const;

 private:
  struct State {
    bool is_started = false;
    TimePoint start_time{};
    TimePoint last_activity{};
    std::vector<std::string> watched_resources;  // without duplicates
    std::optional<ObjectReference> first_object;
  };
  void UpdateState(State& state, const nlohmann::json& entry) const;
  [[nodiscard]] std::string_view ColorOf(const nlohmann::json& entry) const;

  std::ostream& out_;
  Options options_;
  mutable detail::Guarded<State> state_;  // its lock also protects `out_`
};

/// Returns the table line of an audit log entry, without the time column and the line break.
/// Returns "" for an entry that is not printed. `width` is the length of the line.
[[nodiscard]] std::string DemoLogLine(const nlohmann::json& entry, std::size_t width);

}  // namespace kopp::apiserver
