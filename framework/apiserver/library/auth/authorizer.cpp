#include "auth/authorizer.hpp"

#include "auth/rbac_rules.hpp"
#include "json/schema_names.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns whether the list `name` of a rule contains "*" or `value`.
bool ContainsOrWildcard(const json& rule, const char* name, const std::string& value) {
  const json& values = Field(rule, name);
  return std::any_of(values.begin(), values.end(),
                     [&](const json& each) { return each == "*" || each == value; });
}

bool ResourceMatches(const json& rule, const AccessAttributes& attributes) {
  const std::string& subresource = attributes.subresource;
  const std::string resource = attributes.resource + (subresource.empty() ? "" : '/' + subresource);
  const json& resources = Field(rule, "resources");
  return std::any_of(resources.begin(), resources.end(), [&](const json& each) {
    return each == "*" || each == resource || (!subresource.empty() && each == "*/" + subresource);
  });
}

bool NameMatches(const json& rule, const std::string& name) {
  const json& names = Field(rule, "resourceNames");
  return names.empty() || std::find(names.begin(), names.end(), json(name)) != names.end();
}

bool UrlMatches(const json& rule, std::string_view path) {
  const std::vector<std::string> urls = StringListField(rule, "nonResourceURLs");
  return std::any_of(urls.begin(), urls.end(), [&](std::string_view url) {
    if (!url.ends_with('*')) return url == path;
    return path.starts_with(url.substr(0, url.find_last_not_of('*') + 1));
  });
}

bool RuleAllows(const json& rule, const AccessAttributes& attributes) {
  if (!ContainsOrWildcard(rule, "verbs", attributes.verb)) return false;
  if (!attributes.is_resource) return UrlMatches(rule, attributes.path);
  return ContainsOrWildcard(rule, "apiGroups", attributes.group) &&
         ResourceMatches(rule, attributes) && NameMatches(rule, attributes.name);
}

/// Joins errors as utilerrors.NewAggregate of apimachinery does: each text once, "[a, b]".
std::string JoinErrors(const std::vector<std::string>& errors) {
  std::set<std::string_view> texts;
  std::string joined;
  for (const std::string& error : errors) {
    if (texts.insert(error).second) joined += (joined.empty() ? "" : ", ") + error;
  }
  return texts.size() > 1 ? '[' + joined + ']' : joined;
}

/// Adds a rule to the lists of a SelfSubjectRulesReview.
void AddRule(const json& rule, json& resource_rules, json& non_resource_rules) {
  const auto copy = [&](json& to, std::initializer_list<const char*> names) {
    json copied = json::object();
    for (const char* name : names) {
      if (const json& value = Field(rule, name); !value.empty()) copied[name] = value;
    }
    to.push_back(std::move(copied));
  };
  if (!Field(rule, "resources").empty()) {
    copy(resource_rules, {"verbs", "apiGroups", "resources", "resourceNames"});
  }
  if (!Field(rule, "nonResourceURLs").empty()) {
    copy(non_resource_rules, {"verbs", "nonResourceURLs"});
  }
}

}  // namespace

AccessDecision Authorize(ServerContext& context, const User& user,
                         const AccessAttributes& attributes) {
  const bool is_master =
      std::find(user.groups.begin(), user.groups.end(), "system:masters") != user.groups.end();
  if (!context.uses_rbac() || is_master) return {.allowed = true};
  AccessDecision decision;
  const std::vector<std::string> errors =
      VisitRbacRules(context, user, attributes.ns, [&](const json& rule, const RbacGrant& grant) {
        if (!RuleAllows(rule, attributes)) return true;
        decision = {true, "RBAC: allowed by " + grant.ToString()};
        return false;
      });
  if (!decision.allowed && !errors.empty()) decision.reason = "RBAC: " + JoinErrors(errors);
  return decision;
}

json RulesOfUser(ServerContext& context, const User& user, const std::string& ns) {
  json resource_rules = json::array();
  json non_resource_rules = json::array();
  json status{{"incomplete", false}};
  if (!context.uses_rbac()) {
    AddRule({{"verbs", {"*"}}, {"apiGroups", {"*"}}, {"resources", {"*"}}}, resource_rules,
            non_resource_rules);
    AddRule({{"verbs", {"*"}}, {"nonResourceURLs", {"*"}}}, resource_rules, non_resource_rules);
  } else {
    const std::vector<std::string> errors =
        VisitRbacRules(context, user, ns, [&](const json& rule, const RbacGrant&) {
          AddRule(rule, resource_rules, non_resource_rules);
          return true;
        });
    if (!errors.empty()) {
      status["incomplete"] = true;
      status["evaluationError"] = JoinErrors(errors);
    }
  }
  status["resourceRules"] = std::move(resource_rules);
  status["nonResourceRules"] = std::move(non_resource_rules);
  return status;
}

}  // namespace kopp::apiserver
