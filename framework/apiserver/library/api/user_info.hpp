#pragma once

#include "api/request.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns the user as a UserInfo of authentication.k8s.io/v1, which omits empty fields.
[[nodiscard]] inline nlohmann::json UserToJson(const User& user) {
  nlohmann::json info{{"username", user.name}};
  if (!user.uid.empty()) info["uid"] = user.uid;
  if (!user.groups.empty()) info["groups"] = user.groups;
  if (!user.extra.empty()) info["extra"] = user.extra;
  return info;
}

}  // namespace kopp::apiserver
