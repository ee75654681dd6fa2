#pragma once

#include "conformance.hpp"

#include <regex>
#include <string>
#include <vector>

namespace kopp::conformance {

inline const std::string table_type = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// Describes each column of a Table as "NAME[ TYPE][ (FORMAT)][ wide]", for example "Age",
/// "Desired integer", "Name (name)" or "IP wide". TYPE is left out for strings; "wide" stands for a
/// priority other than 0.
inline std::vector<std::string> ColumnSummaries(const json& table) {
  std::vector<std::string> columns;
  for (const json& column : table["columnDefinitions"]) {
    std::string summary = column["name"];
    if (column["type"] != "string") summary += " " + column["type"].get<std::string>();
    if (column["format"] != "") summary += " (" + column["format"].get<std::string>() + ")";
    if (column["priority"] != 0) summary += " wide";
    columns.push_back(summary);
  }
  return columns;
}

/// Returns the cells of the row at `index`, or null if there is no such row. An Age of less than
/// 100 seconds is replaced by "AGE".
inline json RowCells(const json& table, std::size_t index = 0) {
  if (table["rows"].size() <= index) return nullptr;
  json cells = table["rows"][index]["cells"];
  for (std::size_t i = 0; i < cells.size(); ++i) {
    static const std::regex seconds("[0-9]{1,2}s");
    if (table["columnDefinitions"][i]["name"] != "Age") continue;
    if (std::regex_match(cells[i].get<std::string>(), seconds)) cells[i] = "AGE";
  }
  return cells;
}

}  // namespace kopp::conformance
