#include "template_text.hpp"

#include <cstddef>

namespace kopp::command {

std::string Substitute(std::string_view text, const TemplateValues& values) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = text[i] == '@' ? text.find('@', i + 1) : std::string_view::npos;
    const auto value =
        end == std::string_view::npos ? values.end() : values.find(text.substr(i + 1, end - i - 1));
    if (value == values.end()) {
      result += text[i++];
    } else {
      result += value->second;
      i = end + 1;
    }
  }
  return result;
}

std::string SelectLines(std::string_view text, const std::set<std::string_view>& conditions) {
  constexpr std::string_view kIf = "@if ";
  std::string result;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n') + 1);
    if (line.empty()) line = text;  // the last line has no end
    text.remove_prefix(line.size());
    if (!line.starts_with(kIf)) {
      result += line;
      continue;
    }
    line.remove_prefix(kIf.size());
    const std::size_t end = line.find("@ ");
    if (conditions.contains(line.substr(0, end))) result += line.substr(end + 2);
  }
  return result;
}

}  // namespace kopp::command
