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

/// A value in a log line, as JSON text. Bytes that are not UTF-8 are replaced.
class LogValue {
 public:
  LogValue(std::string_view text);  // NOLINT: meant to convert
  LogValue(const char* text) : LogValue(std::string_view(text ? text : "<null>")) {}  // NOLINT
  LogValue(const std::string& text) : LogValue(std::string_view(text)) {}             // NOLINT
  LogValue(const ObjectKey& key);  // NOLINT: "ns/name"
  template <std::integral N>       // a template, so that no pointer turns into a bool
  LogValue(N value) {              // NOLINT
    if constexpr (std::same_as<N, bool>) {
      json_ = value ? "true" : "false";
    } else {
      json_ = std::to_string(value);
    }
  }
  template <std::floating_point N>
  LogValue(N value) : json_(Number(static_cast<double>(value))) {}  // NOLINT
  [[nodiscard]] const std::string& json() const { return json_; }

 private:
  static std::string Number(double value);

  std::string json_;
};

struct LogField {
  std::string_view key = {};
  LogValue value;
};
using LogFields = std::initializer_list<LogField>;

enum class LogFormat {
  kText,  ///< klog's: I1120 21:33:39.123456    1234 file.cpp:168] "Starting workers"
          ///< controller="foo" (month, day, local time, thread, place)
  kJson,  ///< one object a line: {"ts":"2026-11-20T21:33:39.123456Z","level":"info",
          ///< "caller":"file.cpp:168","msg":"Starting workers","controller":"foo"}
};

struct LogOptions {
  LogFormat format = LogFormat::kText;
  int verbosity = 0;  ///< -v: lines of V(n) are written for n <= verbosity
  std::function<void(std::string_view line)> write{};  ///< gets whole lines; empty: standard error
  Clock& clock = Clock::Real();
};

/// Structured logging: a message that never varies, and fields. A value, cheap to copy; safe to use
/// from any thread. Info and Error throw nothing: what cannot be written is lost.
///
/// Lines on standard error never mix, not those of several loggers either. Where it is a pipe or a
/// terminal that nobody reads, Info and Error block until there is room.
class Logger {
 public:
  explicit Logger(LogOptions options = {});

  void Info(std::string_view message, LogFields fields = {},
            std::source_location where = std::source_location::current()) const;
  void Error(std::string_view message, LogFields fields = {},
             std::source_location where = std::source_location::current()) const;

  /// The same logger for lines of verbosity `level` (errors are always written).
  [[nodiscard]] Logger V(int level) const;
  [[nodiscard]] bool Enabled() const;

  /// The same logger with `fields` in front of each line's own.
  [[nodiscard]] Logger With(LogFields fields) const;

 private:
  struct Sink;
  std::shared_ptr<const Sink> sink_;
  std::string bound_;  // the With fields, encoded for the sink's format
  int level_ = 0;
};

}  // namespace kopp
