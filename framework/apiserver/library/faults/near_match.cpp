#include "faults/near_match.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>

namespace kopp::apiserver {
namespace {

bool AreEqualIgnoringCase(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// Returns the Levenshtein distance: the number of characters to insert, erase or replace.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> distances(b.size() + 1);  // from the start of `a` to each start of `b`
  std::iota(distances.begin(), distances.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(distances[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (AreEqualIgnoringCase(a[i], b[j]) ? 0 : 1);
      diagonal = distances[j + 1];
      distances[j + 1] = std::min({replaced, diagonal + 1, distances[j] + 1});
    }
  }
  return distances.back();
}

}  // namespace

std::string FindNearMatch(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kCharactersPerError = 3;
  std::size_t best = name.size() / kCharactersPerError;
  std::string match;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(name, candidate);
    if (distance > best || (distance == best && !match.empty())) continue;
    best = distance;
    match = candidate;
  }
  return match;
}

std::string NearMatchHint(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string match = FindNearMatch(name, candidates);
  return match.empty() ? "" : ": did you mean \"" + match + "\"?";
}

}  // namespace kopp::apiserver
