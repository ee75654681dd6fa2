#include "printers/printers.hpp"

#include "base/timestamp.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kopp::apiserver {
namespace {

/// Formats two units: "3m10s", or "3m" if `rest` is 0.
std::string TwoUnits(std::int64_t whole, char unit, std::int64_t rest, char rest_unit) {
  std::string text = std::to_string(whole) + unit;
  if (rest != 0) text += std::to_string(rest) + rest_unit;
  return text;
}

}  // namespace

using nlohmann::json;

bool HasCondition(const json& object, std::string_view type) {
  const json& conditions = ValueAt(object, "/status/conditions");
  return std::any_of(conditions.begin(), conditions.end(), [&](const json& condition) {
    return StringAt(condition, "/type") == type && StringAt(condition, "/status") == "True";
  });
}

std::string OrDefault(std::string text, const char* otherwise) {
  return text.empty() ? otherwise : std::move(text);
}

Cell Name() { return Text("/metadata/name"); }

Cell Age(std::string pointer, std::string otherwise) {
  return [pointer = std::move(pointer), otherwise = std::move(otherwise)](const json& object,
                                                                          const std::string& now) {
    const std::string since = StringAt(object, pointer);
    return since.empty() ? otherwise : FormatAge(since, now);
  };
}

Cell Text(std::string pointer, std::string otherwise) {
  return [pointer = std::move(pointer), otherwise = std::move(otherwise)](const json& object,
                                                                          const std::string&) {
    const std::string text = StringAt(object, pointer);
    return text.empty() ? otherwise : text;
  };
}

Cell Number(std::string pointer) {
  return [pointer = std::move(pointer)](const json& object, const std::string&) {
    return IntegerAt(object, pointer);
  };
}

Cell Fraction(std::string ready, std::string desired) {
  return [ready = std::move(ready), desired = std::move(desired)](const json& object,
                                                                  const std::string&) {
    return std::to_string(IntegerAt(object, ready)) + '/' +
           std::to_string(IntegerAt(object, desired));
  };
}

Cell ItemCount(std::vector<std::string> pointers) {
  return [pointers = std::move(pointers)](const json& object, const std::string&) {
    std::size_t count = 0;
    for (const std::string& pointer : pointers) count += ValueAt(object, pointer).size();
    return count;
  };
}

Cell JoinedItems(std::string list, std::string field) {
  return
      [list = std::move(list), field = std::move(field)](const json& object, const std::string&) {
        std::vector<std::string> words;
        for (const json& item : ValueAt(object, list)) words.push_back(StringAt(item, field));
        return Join(words);
      };
}

Cell Labels(std::string pointer) {
  return [pointer = std::move(pointer)](const json& object, const std::string&) {
    return OrDefault(FormatLabels(ValueAt(object, pointer)), "<none>");
  };
}

Cell LabelSelectorCell(std::string pointer) {
  return [pointer = std::move(pointer)](const json& object, const std::string&) {
    return OrDefault(SelectorText(ValueAt(object, pointer)), "<none>");
  };
}

std::string HumanDuration(std::chrono::seconds duration) {
  const std::int64_t total_seconds = duration.count();
  const std::int64_t minutes = total_seconds / 60;
  const std::int64_t hours = minutes / 60;
  const std::int64_t days = hours / 24;
  const std::int64_t years = days / 365;
  if (total_seconds < -1) return "<invalid>";
  if (total_seconds < 0) return "0s";
  if (minutes < 2) return std::to_string(total_seconds) + 's';
  if (minutes < 10) return TwoUnits(minutes, 'm', total_seconds % 60, 's');
  if (hours < 3) return std::to_string(minutes) + 'm';
  if (hours < 8) return TwoUnits(hours, 'h', minutes % 60, 'm');
  if (days < 2) return std::to_string(hours) + 'h';
  if (days < 8) return TwoUnits(days, 'd', hours % 24, 'h');
  if (years < 2) return std::to_string(days) + 'd';
  if (years < 8) return TwoUnits(years, 'y', days % 365, 'd');
  return std::to_string(years) + 'y';
}

std::string FormatAge(std::string_view since, std::string_view now) {
  if (since.empty()) return "<unknown>";
  const auto from = detail::ParseTimestamp(since);
  const auto until = detail::ParseTimestamp(now);
  return from && until ? HumanDuration(*until - *from) : "<invalid>";
}

}  // namespace kopp::apiserver
