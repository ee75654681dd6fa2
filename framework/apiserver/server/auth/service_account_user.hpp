#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The user names of ServiceAccounts: "system:serviceaccount:NAMESPACE:NAME".

namespace kopp::apiserver {

inline constexpr std::string_view kServiceAccountPrefix = "system:serviceaccount:";

[[nodiscard]] inline std::string ServiceAccountUserName(const std::string& ns,
                                                        const std::string& name) {
  return std::string(kServiceAccountPrefix) + ns + ':' + name;
}

/// Returns the groups of all ServiceAccounts of a namespace.
[[nodiscard]] inline std::vector<std::string> ServiceAccountUserGroups(const std::string& ns) {
  return {"system:serviceaccounts", "system:serviceaccounts:" + ns};
}

/// Returns the namespace and the name of a ServiceAccount, or nothing if `user` is another user.
[[nodiscard]] inline std::optional<std::pair<std::string, std::string>> ParseServiceAccountUser(
    std::string_view user) {
  if (!user.starts_with(kServiceAccountPrefix)) return std::nullopt;
  user.remove_prefix(kServiceAccountPrefix.size());
  const std::size_t colon = user.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == user.size() ||
      user.find(':', colon + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  return std::pair(std::string(user.substr(0, colon)), std::string(user.substr(colon + 1)));
}

}  // namespace kopp::apiserver
