#include <algorithm>
#include <cctype>
#include <cstddef>

#include <kopp/informer/detail/response_text.hpp>

namespace kopp::detail {
namespace {

constexpr std::size_t kMaxBytes = 200;  // of a body in a message

bool IsBlankOrControl(char c) { return static_cast<unsigned char>(c) <= ' '; }

// Returns the first 200 bytes of `text` as a single line: each run of blanks and control characters
// becomes one blank.
std::string FirstLine(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, kMaxBytes)) {
    const bool blank = IsBlankOrControl(c);
    if (blank && (line.empty() || line.back() == ' ')) continue;
    line += blank ? ' ' : c;
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Returns the title of the page `html`, or "" if it has none.
std::string TitleOf(std::string_view html) {
  constexpr std::size_t kMaxHead = 4096;  // a title is at the start of a page
  constexpr std::string_view kOpening = "<title>";
  html = html.substr(0, kMaxHead);
  const std::string lower = ToLower(html);
  const auto opening = lower.find(kOpening);
  if (opening == std::string_view::npos) return {};
  const auto begin = opening + kOpening.size();
  const auto end = lower.find("</title", begin);
  return end == std::string_view::npos ? "" : FirstLine(html.substr(begin, end - begin));
}

}  // namespace

std::string DescribeBody(std::string_view body) {
  const std::string text = FirstLine(body);
  if (text.empty()) return "the response has no body";
  const std::string start = ToLower(text);
  if (!start.starts_with("<!doctype html") && !start.starts_with("<html")) {
    return "the response body is not a Status: " + text;
  }
  const std::string title = TitleOf(body);
  return std::string(kHtmlPage) + (title.empty() ? ": " + text : ", \"" + title + '"');
}

}  // namespace kopp::detail
