#include "debug_page.hpp"

#include <nlohmann/json.hpp>

namespace kopp::debug {
namespace {

// The page uses no other resources, and its Content-Security-Policy forbids them.
constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --bg: #fbfbfd; --card: #fff; --text: #1c2330; --muted: #667085;
  --line: #e3e7ee; --accent: #2456c9; --good: #137a41; --warning: #9a5b00; --bad: #b3261e;
  --stripe: #f5f7fa; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #12151b; --card: #1a1f28; --text: #e4e8ef; --muted: #98a2b3; --line: #2c3442;
    --accent: #8ab0ff; --good: #5fd38d; --warning: #f0b45a; --bad: #ff8a80; --stripe: #1f2530; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--text);
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header { background: var(--card); border-bottom: 1px solid var(--line); }
header div, main { max-width: 1400px; margin: 0 auto; padding: 0 24px; }
header div { display: flex; flex-wrap: wrap; gap: 4px 20px; align-items: baseline; }
header strong { padding: 14px 0; margin-right: 8px; }
nav a { display: inline-block; padding: 14px 0 11px; margin-right: 16px; color: var(--muted);
  border-bottom: 3px solid transparent; }
nav a.current { color: var(--text); border-color: var(--accent); }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
h1 { font-size: 22px; margin: 28px 0 4px; } h2 { font-size: 15px; margin: 28px 0 8px; }
.links, .note { color: var(--muted); margin: 0 0 16px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  overflow-x: auto; margin-bottom: 16px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 7px 14px; text-align: left; vertical-align: top; }
th { color: var(--muted); font-weight: 600; font-size: 12px; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
tbody tr:nth-child(even) { background: var(--stripe); }
td { white-space: nowrap; } td.l { white-space: normal; overflow-wrap: anywhere;
  min-width: 150px; }
td.n, th.n { text-align: right; }
.empty { padding: 14px; color: var(--muted); }
.good { color: var(--good); } .warning { color: var(--warning); }
.bad { color: var(--bad); font-weight: 600; }
pre { margin: 0; white-space: pre-wrap; font: 12px/1.5 ui-monospace, Menlo, Consolas, monospace; }
)";

/// Escapes text for HTML, also in attributes with double quotes. Replaces bytes that are not UTF-8.
std::string Html(const std::string& text) {
  using Json = nlohmann::json;
  const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string escaped;
  for (const char c : Json::parse(quoted).get<std::string>()) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string ClassOf(const Column& column, Tone tone) {
  std::string names;
  if (column.layout == Layout::kNumber) names += "n ";
  if (column.layout == Layout::kLongText) names += "l ";
  if (tone == Tone::kGood) names += "good ";
  if (tone == Tone::kWarning) names += "warning ";
  if (tone == Tone::kBad) names += "bad ";
  if (names.empty()) return "";
  names.pop_back();
  return " class=\"" + names + '"';
}

std::string CellHtml(const Cell& cell, const Column& column) {
  const bool is_long = cell.text.find('\n') != std::string::npos;
  std::string content = is_long ? "<pre>" + Html(cell.text) + "</pre>" : Html(cell.text);
  if (!cell.link.empty()) content = "<a href=\"" + Html(cell.link) + "\">" + content + "</a>";
  return "<td" + ClassOf(column, cell.tone) + '>' + content + "</td>";
}

std::string TableHtml(const Table& table) {
  std::string html = table.title.empty() ? "" : "<h2>" + Html(table.title) + "</h2>\n";
  if (table.rows.empty()) {
    return html + "<div class=\"card empty\">" + Html(table.empty_text) + "</div>\n";
  }
  html += "<div class=\"card\"><table><thead><tr>";
  for (const Column& column : table.columns) {
    html += "<th" + ClassOf(column, Tone::kNormal) + '>' + Html(column.title) + "</th>";
  }
  html += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) html += CellHtml(row[i], table.columns[i]);
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  if (table.total > table.rows.size()) {
    html += "<p class=\"note\">The first " + std::to_string(table.rows.size()) + " of " +
            std::to_string(table.total) + " are shown.</p>\n";
  }
  return html;
}

}  // namespace

std::string ToHtml(const Page& page, const Navigation& navigation) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>" +
      Html(page.title) + "</title><style>" + kStyle +
      "</style></head><body>\n<header><div><strong>Debug</strong><nav>";
  for (const auto& [path, title] : navigation) {
    html += "<a href=\"" + Html(path) + '"' + (path == page.path ? " class=\"current\"" : "") +
            '>' + Html(title) + "</a>";
  }
  html += "</nav></div></header>\n<main><h1>" + Html(page.title) +
          "</h1><p class=\"links\"><a href=\"?format=json\">JSON</a></p>\n";
  for (const Table& table : page.tables) html += TableHtml(table);
  return html + "</main></body></html>\n";
}

}  // namespace kopp::debug
