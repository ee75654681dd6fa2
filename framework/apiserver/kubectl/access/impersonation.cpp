#include "kubectl/access/impersonation.hpp"

#include "auth/authorizer.hpp"
#include "auth/service_account_user.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

constexpr const char* kAuthenticationGroup = "authentication.k8s.io";
constexpr const char* kAuthenticatedGroup = "system:authenticated";
constexpr const char* kUnauthenticatedGroup = "system:unauthenticated";

/// Lists what a request without a user asks for, as kube-apiserver does: the ObjectReferences in
/// the notation of Go.
std::string DescribeRequested(const Impersonation& impersonation) {
  std::string text;
  const auto add = [&](const std::string& reference) {
    text += (text.empty() ? "{" : " {") + reference + '}';
  };
  for (const std::string& group : impersonation.groups) add("Group  " + group + "    ");
  for (const auto& [key, values] : impersonation.extra) {
    for (const std::string& value : values) {
      add("UserExtra  " + value + "  " + kAuthenticationGroup + "/v1  " + key);
    }
  }
  if (!impersonation.uid.empty())
    add("UID  " + impersonation.uid + "  " + kAuthenticationGroup + "/v1  ");
  return '[' + text + ']';
}

/// Returns the permissions that an impersonation needs.
std::vector<AccessAttributes> NeededPermissions(const Impersonation& impersonation) {
  std::vector<AccessAttributes> needed;
  const auto add = [&](const char* group, const char* resource, const std::string& subresource,
                       const std::string& ns, const std::string& name) {
    needed.push_back({.verb = "impersonate",
                      .group = group,
                      .version = *group == '\0' ? "" : "v1",
                      .resource = resource,
                      .subresource = subresource,
                      .ns = ns,
                      .name = name});
  };
  if (const auto account = ParseServiceAccountUser(impersonation.user)) {
    add("", "serviceaccounts", "", account->first, account->second);
  } else {
    add("", "users", "", "", impersonation.user);
  }
  for (const std::string& group : impersonation.groups) add("", "groups", "", "", group);
  for (const auto& [key, values] : impersonation.extra) {
    for (const std::string& value : values) add(kAuthenticationGroup, "userextras", key, "", value);
  }
  if (!impersonation.uid.empty()) add(kAuthenticationGroup, "uids", "", "", impersonation.uid);
  return needed;
}

/// Adds the group of all authenticated or of all other users, unless one of them is requested.
void AddImpliedGroup(User& user) {
  const auto has = [&](const char* group) {
    return std::find(user.groups.begin(), user.groups.end(), group) != user.groups.end();
  };
  if (has(kUnauthenticatedGroup)) return;
  if (user.name == "system:anonymous") {
    user.groups.emplace_back(kUnauthenticatedGroup);
  } else if (!has(kAuthenticatedGroup)) {
    user.groups.emplace_back(kAuthenticatedGroup);
  }
}

}  // namespace

User Impersonate(ServerContext& context, const User& user, const Impersonation& impersonation) {
  if (impersonation.user.empty()) {
    throw std::invalid_argument("requested " + DescribeRequested(impersonation) +
                                " without impersonating a user");
  }
  for (const AccessAttributes& attributes : NeededPermissions(impersonation)) {
    const AccessDecision decision = Authorize(context, user, attributes);
    if (!decision.allowed) throw AccessDenied(user, attributes, decision.reason);
  }
  User impersonated{impersonation.user, impersonation.groups, impersonation.uid,
                    impersonation.extra};
  const auto account = ParseServiceAccountUser(impersonation.user);
  if (account && impersonation.groups.empty()) {
    impersonated.groups = ServiceAccountUserGroups(account->first);
  }
  AddImpliedGroup(impersonated);
  return impersonated;
}

}  // namespace kopp::apiserver
