#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kopp/flags.hpp>
#include <kopp/log.hpp>

namespace kopp::detail {

/// The values of the flags for the log. nullopt: the flag is not given.
struct LogFlags {
  std::optional<int> verbosity{};     ///< -v
  std::optional<LogFormat> format{};  ///< --logging-format
  std::vector<std::pair<std::string, int>> vmodule{};
  bool sampling = true;                ///< --log-sampling
  std::optional<LogFormat> encoder{};  ///< --zap-encoder
  std::optional<int> zap_verbosity{};  ///< --zap-log-level
  bool zap_devel = false;
  LogTime zap_time = LogTime::kDefault;  ///< --zap-time-encoding
};

/// Adds the flags of klog and of controller-runtime's zap, which set `values`. `values` must
/// outlive the parsing.
void AddLogFlags(Flags& flags, LogFlags& values);

/// Returns the options of the logger. Throws UsageError if flags contradict each other.
[[nodiscard]] LogOptions ToLogOptions(const LogFlags& values);

}  // namespace kopp::detail
