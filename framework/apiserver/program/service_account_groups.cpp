#include "service_account_groups.hpp"

#include <string_view>

namespace kopp::apiserver {

std::vector<std::string> ServiceAccountGroups(const std::string& user) {
  constexpr std::string_view kPrefix = "system:serviceaccount:";
  if (!user.starts_with(kPrefix)) return {};
  const std::string account = user.substr(kPrefix.size());  // NAMESPACE:NAME
  const auto colon = account.find(':');
  if (colon == std::string::npos) return {};
  return {"system:serviceaccounts", "system:serviceaccounts:" + account.substr(0, colon)};
}

}  // namespace kopp::apiserver
