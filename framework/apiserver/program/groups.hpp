#pragma once

#include <string>
#include <vector>

namespace kopp::apiserver {

/// The groups that a service account is in, "system:serviceaccount:NAMESPACE:NAME"; of another
/// user, none.
[[nodiscard]] std::vector<std::string> GroupsOf(const std::string& user);

}  // namespace kopp::apiserver
