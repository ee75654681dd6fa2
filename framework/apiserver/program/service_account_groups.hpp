#pragma once

#include <string>
#include <vector>

namespace kopp::apiserver {

/// Returns the groups of a service account, whose user name is
/// "system:serviceaccount:NAMESPACE:NAME". Returns an empty list for other users.
[[nodiscard]] std::vector<std::string> ServiceAccountGroups(const std::string& user);

}  // namespace kopp::apiserver
