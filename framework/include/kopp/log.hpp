#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>

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
  template <std::integral N>       // a template, so that a pointer does not convert to bool
  LogValue(N value) {              // NOLINT
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

 private:
  static std::string Number(double value);

  std::string json_;
};

/// A key and its value in a log line. Does not own `key`.
struct LogField {
  std::string_view key = {};
  LogValue value;
};
/// The fields of one call. Use it only as a function argument, because it refers to temporaries.
using LogFields = std::initializer_list<LogField>;

/// The format of log lines.
enum class LogFormat {
  /// The text format of klog: severity, month and day, local time, thread id, file and line,
  /// message, fields.
  ///
  ///     I1120 21:33:39.123456    1234 file.cpp:168] "Starting workers" controller="foo"
  kText,
  /// One JSON object per line; the time is UTC.
  ///
  ///     {"ts":"2026-11-20T21:33:39.123456Z","level":"info","caller":"file.cpp:168",
  ///      "msg":"Starting workers","controller":"foo"}
  kJson,
};

/// Options of a Logger.
struct LogOptions {
  LogFormat format = LogFormat::kText;
  int verbosity = 0;  ///< -v: messages of V(n) are written if n <= verbosity
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
/// Lines on standard error are never interleaved, even if several loggers write them. If standard
/// error is a full pipe or a stopped terminal, Info and Error block until it accepts the line.
class Logger {
 public:
  explicit Logger(LogOptions options = {});

  /// Writes a line with severity "info" if LogOptions::verbosity is at least the level set with V
  /// (0 by default).
  void Info(std::string_view message, LogFields fields = {},
            std::source_location where = std::source_location::current()) const;
  /// Writes a line with severity "error" at any verbosity.
  void Error(std::string_view message, LogFields fields = {},
             std::source_location where = std::source_location::current()) const;

  /// Returns a copy whose Info writes only if LogOptions::verbosity is at least `level`. Replaces
  /// the level of an earlier V; levels do not add up as in logr.
  [[nodiscard]] Logger V(int level) const;
  /// Returns whether Info writes lines. Use it to skip work that only a log line needs.
  [[nodiscard]] bool Enabled() const;

  /// Returns a copy that adds `fields` to each line, before the fields of the call.
  [[nodiscard]] Logger With(LogFields fields) const;

 private:
  struct Sink;
  std::shared_ptr<const Sink> sink_;
  std::string bound_;  // the fields of With, encoded in the format of the sink
  int level_ = 0;
};

}  // namespace kopp
