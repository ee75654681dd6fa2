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

/// Identifies an object, as a kubectl command line does.
struct ObjectName {
  std::string resource{};  ///< "deployments"
  std::string ns{};
  std::string name{};
};

/// Prints the requests to a server as a table, one line of at most 80 columns each. It prints
/// writes, failed requests and new watches. It omits successful get and list requests, get requests
/// with status 404, and renewals of leases. Thread-safe.
class DemoLog {
 public:
  struct Options {
    std::string program{};  ///< user name of the demo's program; its requests are highlighted
    bool use_colors = false;
  };

  /// `out` must outlive the DemoLog.
  DemoLog(std::ostream& out, Options options);

  /// Prints the table heading. Requests before this call are ignored.
  void Start();
  /// Prints a request, if it is of interest. `entry` is an audit.k8s.io/v1 Event as JSON.
  void LogRequest(std::string_view entry);
  /// Prints text between two lines of the table.
  void Print(std::string_view text);

  /// False after a write to the output has failed, for example to a closed pipe.
  [[nodiscard]] bool is_output_open() const;
  /// The resources that the program watches, in the order of its first watches: "deployments".
  [[nodiscard]] std::vector<std::string> watched_resources() const;
  /// The first object that the program has created or changed, except Events and Leases.
  [[nodiscard]] std::optional<ObjectName> first_object() const;
  /// The time of the program's last successful request.
  [[nodiscard]] TimePoint last_activity() const;

 private:
  struct State {
    bool is_started = false;
    TimePoint start_time{};
    TimePoint last_activity{};
    std::vector<std::string> watched_resources;  // without duplicates
    std::optional<ObjectName> first_object;
  };
  void UpdateState(State& state, const nlohmann::json& entry) const;
  [[nodiscard]] std::string_view ColorOf(const nlohmann::json& entry) const;

  std::ostream& out_;
  Options options_;
  mutable Guarded<State> state_;  // its lock also protects `out_`
};

/// The table line of an audit log entry, without the time column and the line break. Returns "" for
/// an entry that is not printed. `width` is the length of the line.
[[nodiscard]] std::string DemoLogLine(const nlohmann::json& entry, std::size_t width);

}  // namespace kopp::apiserver
