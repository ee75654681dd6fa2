#include "pattern.hpp"

#include <stdexcept>

namespace kopp::apiserver {
namespace {

// The library's reader of patterns calls itself for each character, its follower for each state
// that a repetition stands for. Go allows as many.
constexpr std::size_t kLongest = 4096;
constexpr int kMostTimes = 1000;

void Bound(const std::string& text) {
  if (text.size() > kLongest) throw std::invalid_argument("expression too large");
  for (auto at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    int times = 0;
    for (std::size_t i = at + 1; i < text.size() && text[i] != '}'; ++i) {
      times = text[i] >= '0' && text[i] <= '9' ? times * 10 + (text[i] - '0') : 0;
      if (times > kMostTimes) throw std::invalid_argument("invalid repeat count");
    }
  }
}

std::regex Read(const std::string& text, Pattern::Letters letters) {
  Bound(text);
  // The other way of matching calls itself for each character of what it looks at.
  auto flags = std::regex::ECMAScript | std::regex_constants::__polynomial;
  if (letters == Pattern::Letters::kOfBothCases) flags |= std::regex::icase;
  try {
    return std::regex(text, flags);
  } catch (const std::regex_error& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace

Pattern::Pattern(const std::string& text, Letters letters) : regex_(Read(text, letters)) {}

bool Pattern::IsAllOf(const std::string& text) const { return std::regex_match(text, regex_); }

bool Pattern::IsIn(const std::string& text) const { return std::regex_search(text, regex_); }

}  // namespace kopp::apiserver
