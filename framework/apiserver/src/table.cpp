#include "table.hpp"

#include "age.hpp"
#include "cells.hpp"
#include "json_path.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const CellsOfKinds& BuiltInCells() {
  static const CellsOfKinds all = [] {
    CellsOfKinds merged;
    for (const auto& some : {PodCells, WorkloadCells, NetworkCells, ClusterCells, EventCells}) {
      merged.merge(some());
    }
    return merged;
  }();
  return all;
}

/// As Go writes it: 2 for 2.0, and digits only up to 1e21.
std::string NumberInWords(double number) {
  constexpr double kFirstWithExponent = 1e21;
  const bool is_whole = std::trunc(number) == number && std::abs(number) < kFirstWithExponent;
  std::array<char, 32> text{};
  const auto [end, error] =
      is_whole ? std::to_chars(text.begin(), text.end(), number, std::chars_format::fixed)
               : std::to_chars(text.begin(), text.end(), number);
  return {text.begin(), end};
}

/// JSON as Go writes it: safe within HTML.
std::string JsonInWords(const json& value) {
  std::string words;
  for (const char each : value.dump()) {
    if (each == '<' || each == '>' || each == '&') {
      words += each == '<' ? "\\u003c" : each == '>' ? "\\u003e" : "\\u0026";
    } else {
      words += each;
    }
  }
  return words;
}

json InWords(const json& value) {
  if (value.is_null()) return "<no value>";
  if (value.is_string()) return value;
  return value.is_number_float() ? NumberInWords(value.get<double>()) : JsonInWords(value);
}

json Whole(const json& number) {
  constexpr double kEnd = 9223372036854775808.0;
  if (!number.is_number_float()) return number;
  const double value = number.get<double>();
  if (!(std::abs(value) < kEnd)) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

/// What a column of some type shows of a value: nothing of one of another type.
json CellOf(const std::string& type, const json& value, const std::string& now) {
  if (type == "string") return InWords(value);
  if (type == "integer" && value.is_number()) return Whole(value);
  if (type == "number" && value.is_number()) return value;
  if (type == "boolean" && value.is_boolean()) return value;
  if (type == "date" && value.is_string()) return AgeOf(value.get<std::string>(), now);
  return nullptr;
}

json CustomCells(const Resource& resource, const json& object, const std::string& now) {
  json cells = json::array();
  for (const Column& column : resource.columns) {
    const auto path = JsonPath::Read(column.path);
    if (!path) break;
    const JsonPath::Found found = path->Follow(object);
    const bool is_name = &column == &resource.columns.front();
    cells.push_back(!found.empty() ? CellOf(column.type, *found.front(), now)
                    : is_name      ? json("")  // a bookmark has none
                                   : json());
  }
  return cells;
}

}  // namespace

json ColumnsOf(const Resource& resource) {
  json columns = json::array();
  for (const auto& [name, type, format, priority, description, path] : resource.columns) {
    if (!resource.built_in && !JsonPath::Read(path)) break;
    columns.push_back({{"name", name},
                       {"type", type},
                       {"format", format},
                       {"description", description},
                       {"priority", priority}});
  }
  return columns;
}

json CellsOf(const Resource& resource, const json& object, const std::string& now) {
  if (!resource.built_in) return CustomCells(resource, object, now);
  json cells = json::array();
  const auto found = BuiltInCells().find(resource.kind);
  if (found == BuiltInCells().end()) return cells;
  for (const Cell& cell : found->second) cells.push_back(cell(object, now));
  return cells;
}

json ConditionsOf(const Resource& resource, const json& object) {
  if (!resource.built_in || resource.kind != "Pod") return nullptr;
  const std::string phase = TextAt(object, "/status/phase");
  const bool has_succeeded = phase == "Succeeded";
  if (!has_succeeded && phase != "Failed") return nullptr;
  return json::array(
      {{{"type", "Completed"},
        {"status", "True"},
        {"reason", phase},
        {"message", has_succeeded ? "The pod has completed successfully." : "The pod failed."}}});
}

}  // namespace kopp::apiserver
