#include "printers/table.hpp"

#include "printers/json_path.hpp"
#include "printers/printers.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const CellsByKind& BuiltInCells() {
  static const CellsByKind all = [] {
    CellsByKind merged;
    for (const auto& some : {PodCells, WorkloadCells, NetworkCells, ClusterCells, EventCells,
                             AutoscalingCells, AdmissionCells, StorageCells}) {
      merged.merge(some());
    }
    return merged;
  }();
  return all;
}

/// Formats a number as Go does: 2 for 2.0, and without an exponent up to 1e21.
std::string FormatNumber(double number) {
  constexpr double kFirstWithExponent = 1e21;
  const bool is_whole = std::trunc(number) == number && std::abs(number) < kFirstWithExponent;
  std::array<char, 32> text{};
  const auto [end, error] =
      is_whole ? std::to_chars(text.begin(), text.end(), number, std::chars_format::fixed)
               : std::to_chars(text.begin(), text.end(), number);
  return {text.begin(), end};
}

/// Formats JSON as Go does: with <, > and & escaped.
std::string FormatJson(const json& value) {
  std::string text;
  for (const char c : value.dump()) {
    if (c == '<' || c == '>' || c == '&') {
      text += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
    } else {
      text += c;
    }
  }
  return text;
}

json FormatValue(const json& value) {
  if (value.is_null()) return "<no value>";
  if (value.is_string()) return value;
  return value.is_number_float() ? FormatNumber(value.get<double>()) : FormatJson(value);
}

json ToInteger(const json& number) {
  constexpr double kEnd = 9223372036854775808.0;
  if (!number.is_number_float()) return number;
  const double value = number.get<double>();
  if (!(std::abs(value) < kEnd)) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

/// Returns the cell of a value in a column of this type, or null if the value has another type.
json CellOf(const std::string& type, const json& value, const std::string& now) {
  if (type == "string") return FormatValue(value);
  if (type == "integer" && value.is_number()) return ToInteger(value);
  if (type == "number" && value.is_number()) return value;
  if (type == "boolean" && value.is_boolean()) return value;
  if (type == "date" && value.is_string()) return FormatAge(value.get<std::string>(), now);
  return nullptr;
}

json CustomCells(const Resource& resource, const json& object, const std::string& now) {
  json cells = json::array();
  for (const Column& column : resource.columns) {
    const auto path = JsonPath::Parse(column.json_path);
    if (!path) break;
    const JsonPath::Values found = path->Evaluate(object);
    const bool is_name_column = &column == &resource.columns.front();
    cells.push_back(!found.empty()   ? CellOf(column.type, *found.front(), now)
                    : is_name_column ? json("")  // a bookmark has no name
                                     : json());
  }
  return cells;
}

}  // namespace

json MakeColumnDefinitions(const Resource& resource) {
  json columns = json::array();
  for (const auto& [name, type, format, priority, description, path] : resource.columns) {
    if (!resource.built_in && !JsonPath::Parse(path)) break;
    columns.push_back({{"name", name},
                       {"type", type},
                       {"format", format},
                       {"description", description},
                       {"priority", priority}});
  }
  return columns;
}

json MakeCells(const Resource& resource, const json& object, const std::string& now) {
  if (!resource.built_in) return CustomCells(resource, object, now);
  json cells = json::array();
  const auto found = BuiltInCells().find(resource.kind);
  if (found == BuiltInCells().end()) return cells;
  for (const Cell& cell : found->second) cells.push_back(cell(object, now));
  return cells;
}

json MakeRowConditions(const Resource& resource, const json& object) {
  if (!resource.built_in || resource.kind != "Pod") return nullptr;
  const std::string phase = StringAt(object, "/status/phase");
  const bool has_succeeded = phase == "Succeeded";
  if (!has_succeeded && phase != "Failed") return nullptr;
  return json::array(
      {{{"type", "Completed"},
        {"status", "True"},
        {"reason", phase},
        {"message", has_succeeded ? "The pod has completed successfully." : "The pod failed."}}});
}

}  // namespace kopp::apiserver
