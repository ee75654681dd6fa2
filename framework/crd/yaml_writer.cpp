#include "crd/yaml_writer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp {
namespace {

using nlohmann::json;

/// Returns whether YAML reads `text` without quotes as this string. Quotes more than necessary.
bool IsPlainText(std::string_view text) {
  constexpr std::array<std::string_view, 10> kReserved{"true", "false", "yes", "no", "on",
                                                       "off",  "null",  "y",   "n",  "~"};
  if (text.empty() || text.back() == ' ' || text.back() == ':') return false;
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  if (!is_letter(text.front()) && text.front() != '/' && text.front() != '^' &&
      !(text.front() == '.' && text.size() > 1 && is_letter(text[1]))) {
    return false;
  }
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::find(kReserved.begin(), kReserved.end(), lower) != kReserved.end()) return false;
  if (lower == ".inf" || lower == ".nan") return false;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) {
    return false;
  }
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

/// Writes a JSON value as YAML. Values other than objects, lists and plain strings are written as
/// in JSON, which is valid YAML.
class YamlWriter {
 public:
  std::string text;

  void WriteObject(const json& object, std::size_t indent) {
    bool first = true;
    for (const auto& [key, value] : object.items()) {
      if (!first) text.append(indent, ' ');
      first = false;
      text += Scalar(key) + ':';
      WriteValue(value, indent);
    }
  }

 private:
  static std::string Scalar(const std::string& value) {
    return IsPlainText(value) ? value : json(value).dump();
  }
  /// Whether `value` can be written with |-, line by line.
  static bool IsBlockText(const json& value) {
    if (!value.is_string()) return false;
    const auto& lines = value.get_ref<const std::string&>();
    if (lines.find('\n') == std::string::npos || lines.back() == '\n' || lines.front() == ' ' ||
        lines.front() == '\n') {
      return false;
    }
    return std::all_of(lines.begin(), lines.end(),
                       [](unsigned char c) { return c == '\n' || (c >= 0x20 && c != 0x7f); });
  }

  /// Writes the value of a key that is indented by `indent`, and ends the line.
  void WriteValue(const json& value, std::size_t indent) {
    if (value.is_object() && !value.empty()) {
      text += '\n' + std::string(indent + 2, ' ');
      WriteObject(value, indent + 2);
    } else if (value.is_array() && !value.empty()) {
      text += '\n';
      for (const json& item : value) WriteItem(item, indent);
    } else if (IsBlockText(value)) {
      WriteBlockText(value.get_ref<const std::string&>(), indent + 2);
    } else {
      text += ' ' + (value.is_string() ? Scalar(value.get<std::string>()) : value.dump()) + '\n';
    }
  }

  void WriteItem(const json& item, std::size_t indent) {
    text.append(indent, ' ');
    if (item.is_object() && !item.empty()) {
      text += "- ";
      WriteObject(item, indent + 2);
    } else {
      text += '-';
      WriteValue(item, indent);
    }
  }

  void WriteBlockText(std::string_view lines, std::size_t indent) {
    text += " |-\n";
    while (true) {
      const std::size_t end = lines.find('\n');
      const std::string_view line = lines.substr(0, end);
      if (!line.empty()) text.append(indent, ' ').append(line);
      text += '\n';
      if (end == std::string_view::npos) return;
      lines.remove_prefix(end + 1);
    }
  }
};

}  // namespace

std::string WriteYaml(const json& value) {
  YamlWriter writer;
  writer.WriteObject(value, 0);
  return std::move(writer.text);
}

}  // namespace kopp
