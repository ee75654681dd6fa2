#pragma once

#include <string>
#include <string_view>

#include <kopp/testing/fault.hpp>

namespace kopp::apiserver {

/// Returns whether a fault of this type can apply to requests with this verb, or to their watches.
[[nodiscard]] bool AppliesTo(testing::Fault::Type type, std::string_view verb);

/// Describes the first error in a fault. Returns "" for a valid fault.
[[nodiscard]] std::string FindFaultError(const testing::Fault& fault);

}  // namespace kopp::apiserver
