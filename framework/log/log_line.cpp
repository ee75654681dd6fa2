#include "log_line.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace kopp::detail {
namespace {

bool IsPlain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

bool IsPlainKey(std::string_view key) {
  return std::all_of(key.begin(), key.end(),
                     [](char c) { return IsPlain(c) && c != ' ' && c != '='; });
}

bool HasJsonFields(LogFormat format) {
  return format == LogFormat::kJson || format == LogFormat::kConsole;
}

std::string CallerOf(const std::source_location& where) {
  const std::string_view file = where.file_name();
  const auto slash = file.rfind('/');  // without a slash: npos + 1 is 0
  return std::string(file.substr(slash + 1)) + ':' + std::to_string(where.line());
}

/// A time as seconds since 1970 and the rest.
struct SplitTime {
  std::time_t seconds = 0;
  int nanos = 0;
};

SplitTime Split(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {std::chrono::system_clock::to_time_t(seconds),
          static_cast<int>((time - seconds).count())};
}

std::string TextHead(const LogLine& line) {
  const SplitTime time = Split(line.time);
  std::tm date{};
  localtime_r(&time.seconds, &date);
  std::array<char, 80> head{};
  std::snprintf(head.data(), head.size(), "%c%02d%02d %02d:%02d:%02d.%06d %7d ",
                line.is_error ? 'E' : 'I', date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min,
                date.tm_sec, time.nanos / 1000, gettid());
  return head.data() + CallerOf(line.where) + "] ";
}

// Returns the time without its fraction.
std::string DateAndTime(const std::tm& date) {
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d", date.tm_year + 1900,
                date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec);
  return text.data();
}

// Returns a dot and the first `digits` digits of the fraction.
std::string Fraction(int nanos, int digits) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), ".%09d", nanos);
  return {text.data(), static_cast<std::size_t>(digits) + 1};
}

std::string LocalIso8601(const SplitTime& time) {
  std::tm date{};
  localtime_r(&time.seconds, &date);
  std::array<char, 16> zone{};
  const std::size_t size = std::strftime(zone.data(), zone.size(), "%z", &date);
  const std::string offset(zone.data(), size);
  return DateAndTime(date) + Fraction(time.nanos, 3) + (offset == "+0000" ? "Z" : offset);
}

// Returns `time` in units of which a second has 10 to the power of `digits`. Calculated without
// floating point, which cannot represent each nanosecond.
std::string SinceEpoch(const SplitTime& time, std::size_t digits) {
  const std::string fraction = Fraction(time.nanos, 9).substr(1);
  const std::string whole = std::to_string(time.seconds) + fraction.substr(0, digits);
  const std::string rest = fraction.substr(digits);
  return rest.empty() ? whole : whole + '.' + rest;
}

std::string FormatTime(LogTime format, LogFormat line_format, WallTime now) {
  const SplitTime time = Split(now);
  if (format == LogTime::kDefault && line_format == LogFormat::kConsole) return LocalIso8601(time);
  std::tm date{};
  gmtime_r(&time.seconds, &date);
  switch (format) {
    case LogTime::kEpoch:
      return SinceEpoch(time, 0);
    case LogTime::kMillis:
      return SinceEpoch(time, 3);
    case LogTime::kNano:
      return SinceEpoch(time, 9);
    case LogTime::kIso8601:
      return DateAndTime(date) + Fraction(time.nanos, 3) + 'Z';
    case LogTime::kRfc3339:
      return DateAndTime(date) + 'Z';
    case LogTime::kRfc3339Nano:
      return DateAndTime(date) + Fraction(time.nanos, 9) + 'Z';
    case LogTime::kDefault:
      break;
  }
  return DateAndTime(date) + Fraction(time.nanos, 6) + 'Z';
}

bool IsNumber(LogTime format) {
  return format == LogTime::kEpoch || format == LogTime::kMillis || format == LogTime::kNano;
}

const char* LevelOf(const LogLine& line) {
  if (line.is_error) return "error";
  return line.level > 0 ? "debug" : "info";
}

// Returns the level in capital letters, in the colours of zap.
std::string ConsoleLevel(const LogLine& line, bool colored) {
  const std::string_view level = line.is_error ? "ERROR" : line.level > 0 ? "DEBUG" : "INFO";
  if (!colored) return std::string(level);
  const std::string_view color = line.is_error ? "31" : line.level > 0 ? "35" : "34";
  return "\x1b[" + std::string(color) + 'm' + std::string(level) + "\x1b[0m";
}

// Returns the text without quotes, with control characters escaped.
std::string Unquoted(std::string_view text) {
  const std::string quoted = QuoteLogText(text);
  return quoted.substr(1, quoted.size() - 2);
}

std::string FormatTextLine(const LogLine& line) {
  std::string text = TextHead(line) + QuoteLogText(line.message);
  if (!line.logger.empty()) text += " logger=" + QuoteLogText(line.logger);
  text += line.fields;
  return text + '\n';
}

std::string FormatJsonLine(const LogStyle& style, const LogLine& line) {
  const std::string time = FormatTime(style.time, style.format, line.time);
  std::string text = R"({"level":")";
  text += LevelOf(line);
  text += IsNumber(style.time) ? R"(","ts":)" + time : R"(","ts":")" + time + '"';
  if (!line.logger.empty()) text += R"(,"logger":)" + QuoteLogText(line.logger);
  text += R"(,"caller":)" + QuoteLogText(CallerOf(line.where)) + R"(,"msg":)";
  text += QuoteLogText(line.message);
  text += line.fields;
  return text + "}\n";
}

std::string FormatConsoleLine(const LogStyle& style, const LogLine& line) {
  std::string text = FormatTime(style.time, style.format, line.time) + '\t' +
                     ConsoleLevel(line, style.colored) + '\t';
  if (!line.logger.empty()) text += Unquoted(line.logger) + '\t';
  text += CallerOf(line.where) + '\t' + Unquoted(line.message);
  if (!line.fields.empty()) text += "\t{" + std::string(line.fields.substr(1)) + '}';
  return text + '\n';
}

std::string FormatLogfmtLine(const LogStyle& style, const LogLine& line) {
  std::string text =
      "ts=" + FormatTime(style.time, style.format, line.time) + " level=" + LevelOf(line);
  if (!line.logger.empty()) text += " logger=" + QuoteLogText(line.logger);
  text += " caller=" + CallerOf(line.where) + " msg=" + QuoteLogText(line.message);
  text += line.fields;
  return text + '\n';
}

}  // namespace

std::string QuoteLogText(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), IsPlain)) {  // the common case
    std::string quoted;
    quoted.reserve(text.size() + 2);
    return quoted.append("\"").append(text).append("\"");
  }
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

// A text key with spaces, '=' or control characters is quoted.
std::string EncodeLogField(LogFormat format, std::string_view key, const std::string& json) {
  const bool has_json_fields = HasJsonFields(format);
  std::string field(1, has_json_fields ? ',' : ' ');
  field.reserve(key.size() + json.size() + 4);
  if (has_json_fields || !IsPlainKey(key)) {
    field.append(QuoteLogText(key));
  } else {
    field.append(key);
  }
  return field.append(1, has_json_fields ? ':' : '=').append(json);
}

std::string FormatLogLine(const LogStyle& style, const LogLine& line) {
  switch (style.format) {
    case LogFormat::kText:
      return FormatTextLine(line);
    case LogFormat::kJson:
      return FormatJsonLine(style, line);
    case LogFormat::kConsole:
      return FormatConsoleLine(style, line);
    case LogFormat::kLogfmt:
      break;
  }
  return FormatLogfmtLine(style, line);
}

}  // namespace kopp::detail
