#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// The parts of a renewal.
struct Renewal {
  bool files = false;   ///< read the files again
  bool plugin = false;  ///< run the credential plugin
};

/// Decides when to renew credentials:
///
/// - Files are due once a minute and after a rejection, but then at most once a second.
/// - The plugin is due while there is no credential, when it has expired, and after a rejection. It
///   is not due within 10 s after the start of a run that failed or followed a rejection.
///
/// Not thread-safe.
class RenewalSchedule {
 public:
  RenewalSchedule(bool has_files, bool has_plugin, TimePoint now)
      : has_files_(has_files),
        has_plugin_(has_plugin),
        has_credentials_(!has_plugin),
        next_file_read_(SaturatingAdd(now, kFileInterval)) {}

  /// Returns whether there are credentials that have not expired. They may have been rejected.
  [[nodiscard]] bool HasUsableCredentials(WallTime wall_now) const {
    return has_credentials_ && (!expires_ || wall_now < *expires_);
  }

  /// Returns what is due, which the caller must do now; nullopt if nothing is. What is `running` is
  /// not due.
  std::optional<Renewal> Start(TimePoint now, WallTime wall_now, const Renewal& running = {}) {
    const bool needs_plugin = has_plugin_ && (rejected_ || !HasUsableCredentials(wall_now));
    const Renewal due{.files = has_files_ && !running.files && now >= next_file_read_,
                      .plugin = needs_plugin && !running.plugin && now >= next_plugin_run_};
    if (due.files) {
      last_file_read_ = now;
      next_file_read_ = SaturatingAdd(now, kFileInterval);
    }
    if (due.plugin) {
      next_plugin_run_ = SaturatingAdd(now, kPluginInterval);
      follows_rejection_ = rejected_;
    }
    return due.files || due.plugin ? std::optional(due) : std::nullopt;
  }

  void FinishPlugin(std::optional<WallTime> expires) {
    has_credentials_ = true;
    expires_ = expires;
    rejected_ = false;
    if (!follows_rejection_) next_plugin_run_ = TimePoint::min();
  }
  void FailPlugin() { rejected_ = false; }  // the next rejection counts

  /// Reports that the server rejected the credentials.
  void Reject() {
    rejected_ = has_plugin_;
    next_file_read_ =
        std::min(next_file_read_, SaturatingAdd(last_file_read_, kRejectedFileInterval));
  }

 private:
  static constexpr Duration kFileInterval = std::chrono::seconds(60);
  static constexpr Duration kRejectedFileInterval = std::chrono::seconds(1);
  static constexpr Duration kPluginInterval = std::chrono::seconds(10);

  bool has_files_;
  bool has_plugin_;
  bool has_credentials_;             // false until the plugin has succeeded
  std::optional<WallTime> expires_;  // nullopt: never
  bool rejected_ = false;            // since the last run of the plugin
  bool follows_rejection_ = false;   // the current or last run of the plugin
  TimePoint last_file_read_ = TimePoint::min();
  TimePoint next_file_read_;
  TimePoint next_plugin_run_ = TimePoint::min();
};

}  // namespace kopp::detail
