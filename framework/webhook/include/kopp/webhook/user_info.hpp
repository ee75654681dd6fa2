#pragma once

#include <map>
#include <string>
#include <vector>

#include <kopp/informer/fields.hpp>

namespace kopp {

/// The user of a request to the API server: UserInfo of authentication.k8s.io/v1.
struct UserInfo {
  std::string username = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};
};

KOPP_DECLARE_FIELDS(UserInfo)

}  // namespace kopp
