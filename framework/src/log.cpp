#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

#include <kopp/log.hpp>

namespace kopp {
namespace {

using nlohmann::json;

bool IsPlain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

// `text` as a JSON string.
std::string Quote(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), IsPlain)) {  // nearly all of them
    return '"' + std::string(text) + '"';
  }
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

// What stands in front of the value: a key that would break the line apart is quoted.
std::string Key(LogFormat format, std::string_view key) {
  if (format == LogFormat::kJson) return ',' + Quote(key) + ':';
  const bool fits = std::all_of(key.begin(), key.end(),
                                [](char c) { return IsPlain(c) && c != ' ' && c != '='; });
  return ' ' + (fits ? std::string(key) : Quote(key)) + '=';
}

std::string Encode(LogFormat format, LogFields fields) {
  std::string text;
  for (const auto& [key, value] : fields) text += Key(format, key) + value.json();
  return text;
}

std::string Caller(const std::source_location& where) {
  const std::string_view file = where.file_name();
  const auto slash = file.rfind('/');  // npos + 1 is 0
  return std::string(file.substr(slash + 1)) + ':' + std::to_string(where.line());
}

struct Moment {
  std::time_t seconds = 0;
  int micros = 0;
};

Moment Split(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto micros = std::chrono::floor<std::chrono::microseconds>(time - seconds);
  return {std::chrono::system_clock::to_time_t(seconds), static_cast<int>(micros.count())};
}

std::string TextHead(char severity, WallTime now, const std::source_location& where) {
  const Moment moment = Split(now);
  std::tm date{};
  localtime_r(&moment.seconds, &date);
  char head[80];  // NOLINT(modernize-avoid-c-arrays): for snprintf
  std::snprintf(head, sizeof head, "%c%02d%02d %02d:%02d:%02d.%06d %7d ", severity, date.tm_mon + 1,
                date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec, moment.micros, gettid());
  return head + Caller(where) + "] ";
}

std::string JsonHead(char severity, WallTime now, const std::source_location& where) {
  const Moment moment = Split(now);
  std::tm date{};
  gmtime_r(&moment.seconds, &date);
  char head[120];  // NOLINT(modernize-avoid-c-arrays): for snprintf
  std::snprintf(head, sizeof head,
                R"({"ts":"%04d-%02d-%02dT%02d:%02d:%02d.%06dZ","level":"%s","caller":)",
                date.tm_year + 1900, date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min,
                date.tm_sec, moment.micros, severity == 'E' ? "error" : "info");
  return head + Quote(Caller(where)) + R"(,"msg":)";
}

// Held by all loggers' writers alike: a pipe mixes what is longer than 4 KiB.
std::mutex standard_error;

void WriteToStandardError(std::string_view line) {
  const std::scoped_lock lock(standard_error);
  while (!line.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    if (written >= 0) {
      line.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // someone made it non-blocking: wait, as a blocking one would
      pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return;  // there is nowhere to say so
    }
  }
}

}  // namespace

LogValue::LogValue(std::string_view text) : json_(Quote(text)) {}

LogValue::LogValue(const ObjectKey& key) : json_(Quote(key.ToString())) {}

std::string LogValue::Number(double value) { return nlohmann::json(value).dump(); }

struct Logger::Sink {
  explicit Sink(LogOptions given) : options(std::move(given)) {}

  void Write(char severity, std::string_view message, const std::string& fields,
             const std::source_location& where) const {
    const bool text = options.format == LogFormat::kText;
    const WallTime now = options.clock.WallNow();
    std::string line = (text ? TextHead : JsonHead)(severity, now, where);
    line += Quote(message) + fields + (text ? "\n" : "}\n");
    if (options.write) {
      options.write(line);
    } else {
      WriteToStandardError(line);
    }
  }

  LogOptions options;
};

Logger::Logger(LogOptions options) : sink_(std::make_shared<const Sink>(std::move(options))) {}

void Logger::Info(std::string_view message, LogFields fields, std::source_location where) const {
  if (!Enabled()) return;
  try {
    sink_->Write('I', message, bound_ + Encode(sink_->options.format, fields), where);
  } catch (...) {  // NOLINT(bugprone-empty-catch): no line is worth failing its caller
  }
}

void Logger::Error(std::string_view message, LogFields fields, std::source_location where) const {
  try {
    sink_->Write('E', message, bound_ + Encode(sink_->options.format, fields), where);
  } catch (...) {  // NOLINT(bugprone-empty-catch): no line is worth failing its caller
  }
}

Logger Logger::V(int level) const {
  Logger other = *this;
  other.level_ = level;
  return other;
}

bool Logger::Enabled() const { return level_ <= sink_->options.verbosity; }

Logger Logger::With(LogFields fields) const {
  Logger other = *this;
  other.bound_ += Encode(sink_->options.format, fields);
  return other;
}

}  // namespace kopp
