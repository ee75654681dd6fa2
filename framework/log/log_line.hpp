#pragma once

#include <source_location>
#include <string>
#include <string_view>

#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// The parts of a log line.
struct LogLine {
  bool is_error = false;
  int level = 0;  ///< the V of an Info
  WallTime time{};
  std::string_view logger{};  ///< empty: not named
  std::string_view message{};
  std::string_view fields{};  ///< encoded by EncodeLogField
  std::source_location where{};
};

/// Returns `text` as a JSON string.
[[nodiscard]] std::string QuoteLogText(std::string_view text);

/// Returns a field with the separator before it. `json` is the value.
[[nodiscard]] std::string EncodeLogField(LogFormat format, std::string_view key,
                                         const std::string& json);

/// How lines are written. The values are those of LogOptions.
struct LogStyle {
  LogFormat format = LogFormat::kText;
  LogTime time = LogTime::kDefault;
  bool colored = false;
};

/// Returns the complete line, with '\n' at its end. Line breaks in the parts are escaped.
[[nodiscard]] std::string FormatLogLine(const LogStyle& style, const LogLine& line);

}  // namespace kopp::detail
