#include "debug_page.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace kopp::debug {
namespace {

using nlohmann::ordered_json;

/// Returns a duration of at least a minute as "1d2h", "1h2m" or "1m2s".
std::string LongDurationText(std::int64_t seconds) {
  struct Unit {
    std::int64_t seconds;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits{{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}}};
  std::size_t first = 0;
  while (seconds < kUnits[first].seconds) ++first;
  const Unit& large = kUnits[first];
  const Unit& small = kUnits[first + 1];
  std::string text = std::to_string(seconds / large.seconds) + large.name;
  const std::int64_t rest = seconds % large.seconds / small.seconds;
  return rest == 0 ? text : text + std::to_string(rest) + small.name;
}

std::string DurationText(Duration duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds >= 60) return LongDurationText(static_cast<std::int64_t>(seconds));
  std::array<char, 32> text{};
  const bool is_short = seconds < 1;
  std::snprintf(text.data(), text.size(), is_short ? "%.3g ms" : "%.1f s",
                is_short ? seconds * 1000 : seconds);
  return text.data();
}

}  // namespace

Cell TextCell(const std::string& text, Tone tone) {
  return {.value = text, .text = text, .tone = tone};
}

Cell NumberCell(double number, Tone tone) {
  if (std::floor(number) == number && std::abs(number) < 1e15) {
    const auto integer = static_cast<std::int64_t>(number);
    return {.value = integer, .text = std::to_string(integer), .tone = tone};
  }
  return {.value = number, .text = ordered_json(number).dump(), .tone = tone};
}

Cell DurationCell(Duration duration, Tone tone) {
  const double seconds = std::chrono::duration<double>(duration).count();
  return {.value = seconds, .text = DurationText(duration), .tone = tone};
}

Cell TimeCell(WallTime time) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, sizeof "2024-01-31T12:00:00Z"> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return TextCell(text.data());
}

std::string ToJson(const Page& page) {
  ordered_json json = ordered_json::object();
  for (const Table& table : page.tables) {
    ordered_json rows = ordered_json::array();
    for (const auto& cells : table.rows) {
      ordered_json row = ordered_json::object();
      for (std::size_t i = 0; i < cells.size(); ++i) row[table.columns[i].key] = cells[i].value;
      rows.push_back(std::move(row));
    }
    json[table.key] = std::move(rows);
    if (table.total > table.rows.size()) json[table.key + "Total"] = table.total;
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace kopp::debug
