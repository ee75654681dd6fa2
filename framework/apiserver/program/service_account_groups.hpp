#pragma once

#include <string>
#include <vector>

namespace kopp::apiserver {

/// The groups of a service account, whose user name is "system:serviceaccount:NAMESPACE:NAME".
/// Empty for other users.
[[nodiscard]] std::vector<std::string> ServiceAccountGroups(const std::string& user);

}  // namespace kopp::apiserver
