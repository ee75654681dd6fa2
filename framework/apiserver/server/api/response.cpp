#include "api/response.hpp"

#include <algorithm>
#include <set>

namespace kopp::apiserver {

using nlohmann::json;

namespace {

constexpr std::size_t kMaxWarningCharacters = 4096;
constexpr std::size_t kMaxCutWarningCharacters = 256;

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

/// Returns the number of characters of a text in UTF-8.
std::size_t CountCharacters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), &StartsCharacter));
}

/// Returns the first characters of a text in UTF-8.
std::string FirstCharacters(const std::string& text, std::size_t count) {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (StartsCharacter(text[end]) && count-- == 0) break;
  }
  return text.substr(0, end);
}

/// Returns the number of warnings up to and including the one that exceeds the limit.
std::size_t CountUpToLimit(const Warnings& warnings) {
  std::size_t characters = 0;
  std::size_t count = 0;
  while (count < warnings.size() && characters <= kMaxWarningCharacters)
    characters += CountCharacters(warnings[count++]);
  return characters <= kMaxWarningCharacters ? 0 : count;
}

/// Cuts the warnings. Drops those after the first `count` that follow 4096 characters.
Warnings CutWarnings(const Warnings& warnings, std::size_t count) {
  Warnings cut;
  std::size_t characters = 0;
  for (const std::string& warning : warnings) {
    if (cut.size() >= count && characters >= kMaxWarningCharacters) break;
    cut.push_back(FirstCharacters(warning, kMaxCutWarningCharacters));
    characters += CountCharacters(cut.back());
  }
  return cut;
}

/// Returns whether a header cannot contain a text.
bool HasControlCharacter(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

}  // namespace

Warnings LimitWarnings(const Warnings& warnings) {
  Warnings unique;
  std::set<std::string> seen;
  for (const std::string& warning : warnings) {
    if (warning.empty() || HasControlCharacter(warning)) continue;
    if (seen.insert(warning).second) unique.push_back(warning);
  }
  const std::size_t count = CountUpToLimit(unique);
  return count == 0 ? unique : CutWarnings(unique, count);
}

json ResponseBody::ToValue() const {
  if (value() != nullptr) return *value();
  return json::parse(text(), nullptr, /*allow_exceptions=*/false);
}

void EncodeBody(ServerResponse& response) {
  const json* value = response.body.value();
  if (value == nullptr) return;
  std::string text = value->dump(-1, ' ', false, json::error_handler_t::replace);
  if (response.content_type.starts_with("application/json")) text += '\n';
  response.body = std::move(text);
}

}  // namespace kopp::apiserver
