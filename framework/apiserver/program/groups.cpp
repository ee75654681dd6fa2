#include "groups.hpp"

#include <string_view>

namespace kopp::apiserver {

std::vector<std::string> GroupsOf(const std::string& user) {
  constexpr std::string_view kServiceAccount = "system:serviceaccount:";
  if (!user.starts_with(kServiceAccount)) return {};
  const std::string account = user.substr(kServiceAccount.size());
  const auto colon = account.find(':');
  if (colon == std::string::npos) return {};
  return {"system:serviceaccounts", "system:serviceaccounts:" + account.substr(0, colon)};
}

}  // namespace kopp::apiserver
