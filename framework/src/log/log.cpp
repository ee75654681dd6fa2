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

// Returns `text` as a JSON string.
std::string Quote(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), IsPlain)) {  // the common case
    return '"' + std::string(text) + '"';
  }
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

// Returns the key with its separators. Quotes a text key with spaces, '=' or control characters.
std::string EncodeKey(LogFormat format, std::string_view key) {
  if (format == LogFormat::kJson) return ',' + Quote(key) + ':';
  const bool is_plain = std::all_of(key.begin(), key.end(),
                                    [](char c) { return IsPlain(c) && c != ' ' && c != '='; });
  return ' ' + (is_plain ? std::string(key) : Quote(key)) + '=';
}

std::string Encode(LogFormat format, LogFields fields) {
  std::string text;
  for (const auto& [key, value] : fields) text += EncodeKey(format, key) + value.json();
  return text;
}

std::string Caller(const std::source_location& where) {
  const std::string_view file = where.file_name();
  const auto slash = file.rfind('/');  // without a slash: npos + 1 is 0
  return std::string(file.substr(slash + 1)) + ':' + std::to_string(where.line());
}

struct SplitTime {
  std::time_t seconds = 0;
  int micros = 0;
};

SplitTime Split(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto micros = std::chrono::floor<std::chrono::microseconds>(time - seconds);
  return {std::chrono::system_clock::to_time_t(seconds), static_cast<int>(micros.count())};
}

std::string TextHead(char severity, WallTime now, const std::source_location& where) {
  const SplitTime time = Split(now);
  std::tm date{};
  localtime_r(&time.seconds, &date);
  char head[80];  // NOLINT(modernize-avoid-c-arrays): for snprintf
  std::snprintf(head, sizeof head, "%c%02d%02d %02d:%02d:%02d.%06d %7d ", severity, date.tm_mon + 1,
                date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec, time.micros, gettid());
  return head + Caller(where) + "] ";
}

std::string JsonHead(char severity, WallTime now, const std::source_location& where) {
  const SplitTime time = Split(now);
  std::tm date{};
  gmtime_r(&time.seconds, &date);
  char head[120];  // NOLINT(modernize-avoid-c-arrays): for snprintf
  std::snprintf(head, sizeof head,
                R"({"ts":"%04d-%02d-%02dT%02d:%02d:%02d.%06dZ","level":"%s","caller":)",
                date.tm_year + 1900, date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min,
                date.tm_sec, time.micros, severity == 'E' ? "error" : "info");
  return head + Quote(Caller(where)) + R"(,"msg":)";
}

// Shared by all loggers: a pipe interleaves concurrent writes that are longer than 4 KiB.
std::mutex standard_error_mutex;

void WriteToStandardError(std::string_view line) {
  const std::scoped_lock lock(standard_error_mutex);
  while (!line.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    if (written >= 0) {
      line.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // the descriptor is non-blocking: wait until it is writable
      pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return;  // there is no other place to report it
    }
  }
}

}  // namespace

LogValue::LogValue(std::string_view text) : json_(Quote(text)) {}

LogValue::LogValue(const ObjectKey& key) : json_(Quote(key.ToString())) {}

std::string LogValue::Number(double value) { return nlohmann::json(value).dump(); }

struct Logger::Sink {
  explicit Sink(LogOptions sink_options) : options(std::move(sink_options)) {}

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
  } catch (...) {  // NOLINT(bugprone-empty-catch): a logging failure must not fail the caller
  }
}

void Logger::Error(std::string_view message, LogFields fields, std::source_location where) const {
  try {
    sink_->Write('E', message, bound_ + Encode(sink_->options.format, fields), where);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a logging failure must not fail the caller
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
