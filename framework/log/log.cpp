#include "log_line.hpp"
#include "log_sampler.hpp"
#include "log_sink.hpp"

#include <cstdlib>
#include <optional>

#include <fnmatch.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <kopp/log.hpp>

namespace kopp {
namespace {

bool IsColored(const LogOptions& options) {
  if (options.color != LogColor::kAuto) return options.color == LogColor::kAlways;
  return !options.write && std::getenv("NO_COLOR") == nullptr && ::isatty(STDERR_FILENO) == 1;
}

std::string EncodeFields(LogFormat format, LogFields fields) {
  std::string text;
  for (const auto& [key, value] : fields) {
    const bool has_objects = format == LogFormat::kJson || format == LogFormat::kConsole;
    const bool as_object = has_objects && !value.json_object().empty();
    text += detail::EncodeLogField(format, key, as_object ? value.json_object() : value.json());
  }
  return text;
}

std::size_t HashOf(bool is_error, std::string_view message, const std::source_location& where) {
  const std::size_t caller = std::hash<const void*>()(where.file_name()) * 31 + where.line();
  return std::hash<std::string_view>()(message) ^ (caller * 2 + (is_error ? 1 : 0));
}

}  // namespace

LogValue::LogValue(std::string_view text) : json_(detail::QuoteLogText(text)) {}

LogValue::LogValue(const ObjectKey& key) : json_(detail::QuoteLogText(key.ToString())) {}

LogValue LogValue::Reference(const ObjectKey& key) {
  LogValue value(key);
  value.json_object_ = R"({"name":)" + detail::QuoteLogText(key.name);
  if (!key.ns.empty()) value.json_object_ += R"(,"namespace":)" + detail::QuoteLogText(key.ns);
  value.json_object_ += '}';
  return value;
}

std::string LogValue::Number(double value) { return nlohmann::json(value).dump(); }

/// What the copies of a logger share.
class Logger::Sink final : public detail::DropNotice {
 public:
  explicit Sink(LogOptions options)
      : options_(std::move(options)),
        style_{options_.format, options_.time, IsColored(options_)},
        sampler_(options_.sampling) {}

  [[nodiscard]] const LogOptions& options() const { return options_; }

  // Returns nullopt if the line is to be left out, or else the number of lines left out before it.
  [[nodiscard]] std::optional<std::uint64_t> Sample(std::size_t hash) const {
    return sampler_.Admit(hash, options_.clock.Now());
  }

  [[nodiscard]] std::string Format(const detail::LogLine& line) const {
    return detail::FormatLogLine(style_, line);
  }

  [[nodiscard]] std::string DroppedLines(std::uint64_t lines, WallTime now) const override {
    const std::string fields = EncodeFields(options_.format, {{"count", lines}});
    return Format({.is_error = true,
                   .time = now,
                   .message = "Dropped log lines, because standard error did not accept them",
                   .fields = fields,
                   .where = std::source_location::current()});
  }

 private:
  const LogOptions options_;
  const detail::LogStyle style_;
  mutable detail::LogSampler sampler_;
};

Logger::Logger(LogOptions options)
    : sink_(std::make_shared<const Sink>(std::move(options))),
      verbosity_(sink_->options().verbosity) {}

void Logger::Write(bool is_error, std::string_view message, LogFields fields,
                   const std::source_location& where) const {
  const LogOptions& options = sink_->options();
  std::uint64_t suppressed = 0;
  if (verbosity_ < 1) {
    const auto admitted = sink_->Sample(HashOf(is_error, message, where));
    if (!admitted) return;
    suppressed = *admitted;
  }
  std::string all_fields = bound_ + EncodeFields(options.format, fields);
  if (suppressed > 0) all_fields += EncodeFields(options.format, {{"suppressed", suppressed}});
  const std::string line =
      sink_->Format({.is_error = is_error,
                     .level = level_,
                     .time = options.clock.WallNow(),
                     .logger = name_ ? std::string_view(*name_) : std::string_view(),
                     .message = message,
                     .fields = all_fields,
                     .where = where});
  if (options.write) {
    options.write(line);
  } else {
    detail::LogSink::StandardError().Write(line, sink_);
  }
}

void Logger::Info(std::string_view message, LogFields fields, std::source_location where) const {
  if (!Enabled()) return;
  try {
    Write(false, message, fields, where);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a logging failure must not fail the caller
  }
}

void Logger::Error(std::string_view message, LogFields fields, std::source_location where) const {
  try {
    Write(true, message, fields, where);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a logging failure must not fail the caller
  }
}

Logger Logger::V(int level) const {
  Logger other = *this;
  other.level_ = level;
  return other;
}

Logger Logger::With(LogFields fields) const {
  Logger other = *this;
  other.bound_ += EncodeFields(sink_->options().format, fields);
  for (const auto& [key, value] : fields) {
    const std::string& json = value.json();
    if (key == "controller" && json.starts_with('"')) {
      other.SelectVerbosity(json.substr(1, json.size() - 2));
    }
  }
  return other;
}

Logger Logger::Named(std::string_view name) const {
  Logger other = *this;
  const std::string prefix = name_ ? *name_ + '.' : "";
  other.name_ = std::make_shared<const std::string>(prefix + std::string(name));
  other.SelectVerbosity(*other.name_);
  return other;
}

// Keeps the verbosity if no pattern matches.
void Logger::SelectVerbosity(const std::string& name) {
  for (const auto& [pattern, verbosity] : sink_->options().vmodule) {
    if (::fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
    verbosity_ = verbosity;
    return;
  }
}

LogStatus GetLogStatus() { return detail::LogSink::StandardError().Status(); }

bool FlushLog(Duration timeout) { return detail::LogSink::StandardError().Flush(timeout); }

}  // namespace kopp
