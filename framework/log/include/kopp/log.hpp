#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// A value in a log line, encoded as JSON. Bytes that are not UTF-8 are replaced by U+FFFD. A null
/// `const char*` becomes "<null>". Numbers that are not finite become null.
class LogValue {
 public:
  LogValue(std::string_view text);  // NOLINT: implicit conversion is intended
  LogValue(const char* text) : LogValue(std::string_view(text ? text : "<null>")) {}  // NOLINT
  LogValue(const std::string& text) : LogValue(std::string_view(text)) {}             // NOLINT
  /// Encodes the key as text: "ns/name", or "name" without a namespace.
  LogValue(const ObjectKey& key);  // NOLINT
  /// Returns the key in the form of klog.KRef: as text in kText and kLogfmt, and in the JSON
  /// formats as an object: {"name":"web","namespace":"shop"}.
  static LogValue Reference(const ObjectKey& key);
  template <std::integral N>  // a template, so that a pointer does not convert to bool
  LogValue(N value) {         // NOLINT
    if constexpr (std::same_as<N, bool>) {
      json_ = value ? "true" : "false";
    } else {
      json_ = std::to_string(value);
    }
  }
  template <std::floating_point N>
  LogValue(N value) : json_(Number(static_cast<double>(value))) {}  // NOLINT
  /// Returns the value as JSON text.
  [[nodiscard]] const std::string& json() const { return json_; }
  /// Returns the value as a JSON object for the JSON formats, or "" if it is the same in all.
  [[nodiscard]] const std::string& json_object() const { return json_object_; }

 private:
  static std::string Number(double value);

  std::string json_;
  std::string json_object_;
};

/// A key and its value in a log line. Does not own `key`.
struct LogField {
  std::string_view key = {};
  LogValue value;
};
/// The fields of one call. Use it only as a function argument, because it refers to temporaries.
using LogFields = std::initializer_list<LogField>;

/// The format of log lines. The level is "error" for Error, "info" for Info, and "debug" for Info
/// with a V of 1 or more.
enum class LogFormat {
  /// The text format of klog: severity, month and day, local time, thread id, file and line,
  /// message, fields.
  ///
  ///     I1120 21:33:39.123456    1234 file.cpp:168] "Starting workers" controller="foo"
  kText,
  /// One JSON object per line, with the keys of controller-runtime.
  ///
  ///     {"level":"info","ts":"2026-11-20T21:33:39.123456Z","logger":"web","caller":"file.cpp:168",
  ///      "msg":"Starting workers","controller":"foo"}
  kJson,
  /// The console format of zap, for people: columns separated by tabs, then the fields as JSON. The
  /// default time is local.
  ///
  ///     2026-11-20T21:33:39.123Z  INFO  web  file.cpp:168  Starting workers  {"controller":"foo"}
  kConsole,
  /// logfmt: fields only.
  ///
  ///     ts=2026-11-20T21:33:39.123456Z level=info caller=file.cpp:168 msg="Starting workers" …
  kLogfmt,
};

/// The format of times in log lines. kText does not use it. All but kDefault are in UTC and are
/// named as in zap.
enum class LogTime {
  kDefault,      ///< RFC 3339 with microseconds in UTC; kConsole: kIso8601 in local time
  kEpoch,        ///< seconds since 1970 with fraction
  kMillis,       ///< milliseconds since 1970 with fraction
  kNano,         ///< nanoseconds since 1970
  kIso8601,      ///< 2026-11-20T21:33:39.123Z
  kRfc3339,      ///< 2026-11-20T21:33:39Z
  kRfc3339Nano,  ///< 2026-11-20T21:33:39.123456789Z
};

/// When kConsole colours the level.
enum class LogColor {
  kAuto,  ///< if standard error is a terminal, LogOptions::write is empty and $NO_COLOR is not set
  kAlways,
  kNever,
};

/// Limits repeated lines: lines with the same message, caller and severity. In each second the
/// first `first` lines are written, then each line of number `thereafter`, with the number of lines
/// left out before it in the field "suppressed". Errors are limited, too, because they are what a
/// failing program repeats. A logger with a verbosity of 1 or more writes all lines.
struct LogSampling {
  int first = 100;       ///< 0: all lines are written
  int thereafter = 100;  ///< 0: none
};

/// Options of a Logger.
struct LogOptions {
  LogFormat format = LogFormat::kText;
  int verbosity = 0;  ///< -v: messages of V(n) are written if n <= verbosity; -1: only errors
  /// --vmodule: replaces `verbosity` for the loggers whose name (see Logger::Named) or whose field
  /// "controller" matches the pattern, with * and ? as in a shell. The first match counts.
  std::vector<std::pair<std::string, int>> vmodule{};
  /// Off by default; Options::FromCommandLine turns it on (--log-sampling).
  LogSampling sampling{.first = 0};
  LogTime time = LogTime::kDefault;
  LogColor color = LogColor::kAuto;
  /// Called with each complete line, including '\n'. If several threads use the logger, calls are
  /// concurrent. Exceptions are ignored. If empty, lines are written to standard error.
  std::function<void(std::string_view line)> write{};
  Clock& clock = Clock::Real();  ///< for the time in each line; must outlive all loggers
};

/// Writes structured log lines: a constant message and fields with the variable data. Thread-safe.
/// Cheap to copy. Info and Error do not throw: a line that cannot be written is lost.
///
///     log.Info("Scaled deployment", {{"object", key}, {"replicas", 3}});
///
/// Lines on standard error are complete, in order and never interleaved, even if several loggers
/// write them. Info and Error do not block: if standard error is a full pipe or a terminal, up to
/// 1 MiB of lines waits in memory for a thread that writes them. Further lines are dropped, and the
/// line "Dropped log lines" with their count takes their place. Lines that cannot be written
/// because of an error, such as a full disk, are dropped as well. Otherwise a line has been written
/// when the call returns. At the end of the program, exit waits up to one second for waiting lines.
///
/// A child process created by fork must not use a logger before it calls exec.
class Logger {
 public:
  explicit Logger(LogOptions options = {});

  /// Writes a line with severity "info" if the verbosity is at least the level set with V (0 by
  /// default).
  void Info(std::string_view message, LogFields fields = {},
            std::source_location where = std::source_location::current()) const;
  /// Writes a line with severity "error" at any verbosity.
  void Error(std::string_view message, LogFields fields = {},
             std::source_location where = std::source_location::current()) const;

  /// Returns a copy whose Info writes only if the verbosity is at least `level`. Replaces the level
  /// of an earlier V; levels do not add up as in logr.
  [[nodiscard]] Logger V(int level) const;
  /// Returns whether Info writes lines. Use it to skip work that only a log line needs.
  [[nodiscard]] bool Enabled() const { return level_ <= verbosity_; }

  /// Returns a copy that adds `fields` to each line, before the fields of the call. The field
  /// "controller" selects the verbosity of LogOptions::vmodule.
  [[nodiscard]] Logger With(LogFields fields) const;

  /// Returns a copy with a name, which is written as the field "logger" and selects the verbosity
  /// of LogOptions::vmodule. The name of a named logger is extended: "web" and then "cache" is
  /// "web.cache".
  [[nodiscard]] Logger Named(std::string_view name) const;

 private:
  class Sink;
  void Write(bool is_error, std::string_view message, LogFields fields,
             const std::source_location& where) const;
  void SelectVerbosity(const std::string& name);

  std::shared_ptr<const Sink> sink_;
  std::shared_ptr<const std::string> name_;  // null: not named. Shared, so that V is cheap
  std::string bound_;  // the fields of With, encoded in the format of the sink
  int level_ = 0;
  int verbosity_ = 0;
};

/// The lines of all loggers on standard error.
struct LogStatus {
  std::uint64_t dropped_lines = 0;  ///< since the start of the program
  std::size_t waiting_bytes = 0;    ///< of lines that standard error has not accepted yet
  /// The time for which standard error has accepted nothing although lines wait; 0: none wait.
  Duration blocked_for{};
};

/// Returns the current status of standard error, for metrics and health checks. Thread-safe, does
/// not block.
[[nodiscard]] LogStatus GetLogStatus();

/// Blocks until no line waits for standard error, or until `timeout` has passed. Returns whether
/// all lines were written or dropped. Call it before std::_Exit; exit calls it. Thread-safe.
bool FlushLog(Duration timeout);

}  // namespace kopp
