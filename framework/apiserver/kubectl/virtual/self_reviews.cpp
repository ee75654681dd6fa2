// Reviews with which kubectl shows what the user is and may do.
#include "api/status.hpp"
#include "api/user_info.hpp"
#include "auth/authorizer.hpp"
#include "json/schema_names.hpp"
#include "kubectl/virtual/virtual_kinds.hpp"
#include "schema/accessors.hpp"

#include <string>

namespace kopp::apiserver {

using nlohmann::json;

json ReviewSelf(const VirtualRequest& request) {
  return {{"metadata", {{"creationTimestamp", request.context.Now()}}},
          {"status", {{"userInfo", UserToJson(request.request.user)}}}};
}

json ReviewRules(const VirtualRequest& request) {
  const std::string ns = StringAt(request.object, "/spec/namespace");
  if (ns.empty()) throw BadRequest("no namespace on request");
  return {{"metadata", json::object()},
          {"spec", json::object()},
          {"status", RulesOfUser(request.context, request.request.user, ns)}};
}

}  // namespace kopp::apiserver
