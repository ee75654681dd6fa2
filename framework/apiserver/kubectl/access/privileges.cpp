#include "access/privileges.hpp"

#include "api/status.hpp"
#include "auth/authorizer.hpp"
#include "auth/rbac_rules.hpp"
#include "auth/service_account_user.hpp"
#include "json/go_values.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// A part of a rule that gives one permission.
struct Permission {
  std::string verb{};
  std::string group{};
  std::string resource{};  ///< with its subresource; empty for a URL
  std::string name{};      ///< empty: all names
  std::string url{};
};

std::vector<Permission> PermissionsOf(const json& rules) {
  std::vector<Permission> permissions;
  for (const json& rule : rules) {
    std::vector<std::string> names = StringListField(rule, "resourceNames");
    if (names.empty()) names.emplace_back();
    const std::vector<std::string> verbs = StringListField(rule, "verbs");
    for (const std::string& group : StringListField(rule, "apiGroups")) {
      for (const std::string& resource : StringListField(rule, "resources")) {
        for (const std::string& verb : verbs) {
          for (const std::string& name : names)
            permissions.push_back({verb, group, resource, name});
        }
      }
    }
    for (const std::string& url : StringListField(rule, "nonResourceURLs")) {
      for (const std::string& verb : verbs) permissions.push_back({.verb = verb, .url = url});
    }
  }
  return permissions;
}

bool CoversUrl(const std::vector<std::string>& urls, const std::string& url) {
  return std::any_of(urls.begin(), urls.end(), [&](const std::string& each) {
    return each == url || (each.ends_with('*') && url.starts_with(each.substr(0, each.size() - 1)));
  });
}

/// Returns whether a rule gives the permission.
bool Covers(const json& rule, const Permission& permission) {
  const auto lists = [&](const char* field, const std::string& value) {
    const std::vector<std::string> values = StringListField(rule, field);
    return std::any_of(values.begin(), values.end(),
                       [&](const std::string& each) { return each == "*" || each == value; });
  };
  if (!lists("verbs", permission.verb)) return false;
  if (!permission.url.empty()) {
    return CoversUrl(StringListField(rule, "nonResourceURLs"), permission.url);
  }
  const std::string& resource = permission.resource;
  const auto slash = resource.find('/');
  const bool covers_resource =
      lists("resources", resource) ||
      (slash != std::string::npos && lists("resources", '*' + resource.substr(slash)));
  const std::vector<std::string> names = StringListField(rule, "resourceNames");
  const bool covers_name =
      names.empty() || (!permission.name.empty() &&
                        std::find(names.begin(), names.end(), permission.name) != names.end());
  return covers_resource && covers_name && lists("apiGroups", permission.group);
}

/// Describes permissions as kube-apiserver does: one line for the verbs of a resource and a name,
/// and for each verb of a URL, in lexical order.
std::string DescribePermissions(const std::vector<Permission>& permissions) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::string>> verbs;
  std::set<std::string> lines;
  for (const Permission& each : permissions) {
    if (each.url.empty()) {
      verbs[{each.group, each.resource, each.name}].push_back(each.verb);
    } else {
      lines.insert("{NonResourceURLs:" + QuotedList({each.url}) +
                   ", Verbs:" + QuotedList({each.verb}) + '}');
    }
  }
  for (const auto& [key, values] : verbs) {
    const auto& [group, resource, name] = key;
    lines.insert("{APIGroups:" + QuotedList({group}) + ", Resources:" + QuotedList({resource}) +
                 (name.empty() ? "" : ", ResourceNames:" + QuotedList({name})) +
                 ", Verbs:" + QuotedList(values) + '}');
  }
  std::string text;
  for (const std::string& line : lines) text += '\n' + line;
  return text;
}

/// Returns the permissions in `rules` that the user does not have in the namespace.
std::vector<Permission> MissingPermissions(ServerContext& context, const User& user,
                                           const std::string& ns, const json& rules) {
  json own_rules = json::array();
  VisitRbacRules(context, user, ns, [&](const json& rule, const RbacGrant&) {
    own_rules.push_back(rule);
    return true;
  });
  std::vector<Permission> permissions = PermissionsOf(rules);
  std::erase_if(permissions, [&](const Permission& permission) {
    return std::any_of(own_rules.begin(), own_rules.end(),
                       [&](const json& rule) { return Covers(rule, permission); });
  });
  return permissions;
}

/// Returns whether an update changes only metadata that garbage collection uses.
bool ChangesOnlyOwnership(json before, json object) {
  for (json* each : {&before, &object}) {
    for (const char* field : {"finalizers", "ownerReferences", "managedFields"}) {
      (*each)["metadata"].erase(field);
    }
  }
  return before == object;
}

/// Returns whether the user has a permission beyond those that the object gives: to escalate a role
/// or to bind it.
bool HasSpecialPermission(ServerContext& context, const WriteRequest& write,
                          const json& role_reference) {
  const std::string role_kind = StringField(role_reference, "kind");
  AccessAttributes attributes{.verb = "escalate",
                              .group = write.resource.group,
                              .version = write.resource.version,
                              .resource = write.resource.plural,
                              .ns = write.target.ns,
                              .name = write.target.name};
  if (!role_kind.empty()) {
    attributes.verb = "bind";
    attributes.resource = role_kind == "ClusterRole" ? "clusterroles" : "roles";
    attributes.name = StringField(role_reference, "name");
  }
  return Authorize(context, write.user, attributes).allowed;
}

/// Returns whether a ClusterRole has the rules of other ClusterRoles.
bool Aggregates(const json& role) {
  return !ValueAt(role, "/aggregationRule/clusterRoleSelectors").empty();
}

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

void CheckEscalation(ServerContext& context, const WriteRequest& write, const json& before,
                     const json& object) {
  const Resource& resource = write.resource;
  const User& user = write.user;
  if (!context.uses_rbac() || resource.group != "rbac.authorization.k8s.io") return;
  if (!before.is_null() && ChangesOnlyOwnership(before, object)) return;
  const json& reference = Field(object, "roleRef");
  if (HasSpecialPermission(context, write, reference)) return;
  const std::string& ns = write.target.ns;
  const std::string name = StringAt(object, "/metadata/name");
  const std::optional<json> rules =
      reference.is_null() ? Field(object, "rules") : RulesOfRole(context, reference, ns);
  if (!rules) throw NotFound(resource, StringField(reference, "name"));
  const std::vector<Permission> missing = MissingPermissions(context, user, ns, *rules);
  if (!missing.empty()) {
    throw Forbidden(resource, name,
                    "user \"" + user.name + "\" (groups=" + QuotedList(user.groups) +
                        ") is attempting to grant RBAC permissions not currently held:" +
                        DescribePermissions(missing));
  }
  if (Aggregates(before) || Aggregates(object)) {
    const json everything{{{"verbs", {"*"}}, {"apiGroups", {"*"}}, {"resources", {"*"}}},
                          {{"verbs", {"*"}}, {"nonResourceURLs", {"*"}}}};
    if (!MissingPermissions(context, user, ns, everything).empty()) {
      throw Forbidden(resource, name,
                      "must have cluster-admin privileges to use the aggregationRule");
    }
  }
}

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
