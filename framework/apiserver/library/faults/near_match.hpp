#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kopp::apiserver {

/// Returns the candidate that `name` is probably a misspelling of, or "" if none is similar.
/// Ignores upper and lower case.
[[nodiscard]] std::string FindNearMatch(std::string_view name,
                                        const std::vector<std::string>& candidates);

/// Returns `: did you mean "update"?` for the near match of `name`, or "" if there is none.
[[nodiscard]] std::string NearMatchHint(std::string_view name,
                                        const std::vector<std::string>& candidates);

}  // namespace kopp::apiserver
