#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/workqueue/clock.hpp>

// A debug page, independent of its format. The HTML and JSON formats show the same values.
namespace kopp::debug {

/// How a value is highlighted.
enum class Tone { kNormal, kGood, kWarning, kBad };

/// A value of a table.
struct Cell {
  nlohmann::ordered_json value{};  ///< for JSON
  std::string text{};              ///< for people
  Tone tone = Tone::kNormal;
  std::string link{};  ///< the URL of another page; empty: none
};

/// How a column is laid out.
enum class Layout {
  kText,      ///< not wrapped
  kNumber,    ///< not wrapped, to the right
  kLongText,  ///< wrapped where needed
};

struct Column {
  std::string key;    ///< in JSON
  std::string title;  ///< in HTML
  Layout layout = Layout::kText;
};

struct Table {
  std::string key{};    ///< in JSON
  std::string title{};  ///< in HTML; empty: none
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};
  std::size_t total = 0;            ///< rows that exist; more than rows.size() if some are left out
  std::string empty_text = "none";  ///< in HTML, instead of a table without rows
};

struct Page {
  std::string title{};
  std::string path{};  ///< "/debug/queues"
  std::vector<Table> tables{};
};

/// A link of the navigation: its path and title.
using Navigation = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] std::string ToHtml(const Page& page, const Navigation& navigation);
[[nodiscard]] std::string ToJson(const Page& page);

// Cells.

[[nodiscard]] Cell TextCell(const std::string& text, Tone tone = Tone::kNormal);
[[nodiscard]] Cell NumberCell(double number, Tone tone = Tone::kNormal);
/// In JSON it is a number of seconds; in HTML it is like "1h2m", "3.2 s" or "15 ms".
[[nodiscard]] Cell DurationCell(Duration duration, Tone tone = Tone::kNormal);
/// In both formats it is like "2024-01-31T12:00:00Z".
[[nodiscard]] Cell TimeCell(WallTime time);

}  // namespace kopp::debug
