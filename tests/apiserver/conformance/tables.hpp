#pragma once

#include "conformance.hpp"

#include <regex>
#include <string>
#include <vector>

namespace kopp::conformance {

inline const std::string table_type = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// "Age", "Desired integer", "Name (name)", "IP wide": what a column differs in from a string that
/// is always shown is told.
inline std::vector<std::string> Columns(const json& table) {
  std::vector<std::string> columns;
  for (const json& column : table["columnDefinitions"]) {
    std::string text = column["name"];
    if (column["type"] != "string") text += " " + column["type"].get<std::string>();
    if (column["format"] != "") text += " (" + column["format"].get<std::string>() + ")";
    if (column["priority"] != 0) text += " wide";
    columns.push_back(text);
  }
  return columns;
}

/// The cells of the row at `index`. An age of seconds is "AGE".
inline json Cells(const json& table, std::size_t index = 0) {
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
