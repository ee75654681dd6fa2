#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <kopp/testing/fault.hpp>

namespace kopp::apiserver {

/// Returns the candidate that `name` is probably a misspelling of, or "" if none is similar.
/// Ignores upper and lower case.
[[nodiscard]] std::string FindNearMatch(std::string_view name,
                                        const std::vector<std::string>& candidates);

/// Returns `: did you mean "update"?` for the near match of `name`, or "" if there is none.
[[nodiscard]] std::string NearMatchHint(std::string_view name,
                                        const std::vector<std::string>& candidates);

/// Returns whether a fault of this type can apply to requests with this verb, or to their watches.
[[nodiscard]] bool AppliesTo(testing::Fault::Type type, std::string_view verb);

/// Describes the first error in a fault. Returns "" for a valid fault.
[[nodiscard]] std::string FindFaultError(const testing::Fault& fault);

}  // namespace kopp::apiserver
