#include "auth/authorizer.hpp"

#include "auth/rbac_rules.hpp"
#include "schema/accessors.hpp"
#include "schema/consume_until.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

/// Returns the name that a field selector such as "metadata.name=a" selects, or "".
std::string SelectedName(const std::string& field_selector) {
  std::string_view rest = field_selector;
  while (!rest.empty()) {
    std::string_view term = ConsumeUntil(rest, ',');
    if (ConsumeUntil(term, '=') != "metadata.name") continue;
    if (term.starts_with('=')) term.remove_prefix(1);
    return std::string(term);
  }
  return "";
}

std::string DeniedMessage(const User& user, const AccessAttributes& attributes) {
  if (!attributes.is_resource) {
    return fmt::format(R"(User "{}" cannot {} path "{}")", user.name, attributes.verb,
                       attributes.path);
  }
  const std::string resource =
      attributes.resource + (attributes.subresource.empty() ? "" : '/' + attributes.subresource);
  const std::string scope = attributes.ns.empty()
                                ? "at the cluster scope"
                                : fmt::format(R"(in the namespace "{}")", attributes.ns);
  return fmt::format(R"(User "{}" cannot {} resource "{}" in API group "{}" {})", user.name,
                     attributes.verb, resource, attributes.group, scope);
}

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

AccessAttributes AttributesOf(const ServerRequest& request) {
  return AttributesOf(VerbOf(request), request.target);
}

AccessAttributes AttributesOf(std::string verb, const RequestInfo& target) {
  AccessAttributes attributes{.verb = std::move(verb), .is_resource = target.is_resource};
  if (!target.is_resource) {
    attributes.path = target.path;
    return attributes;
  }
  attributes.group = target.group;
  attributes.version = target.version;
  attributes.resource = target.plural;
  attributes.subresource = target.subresource;
  const bool may_select = attributes.verb == "list" || attributes.verb == "watch";
  attributes.name = may_select && target.name.empty()
                        ? SelectedName(target.query.Get("fieldSelector"))
                        : target.name;
  const bool is_namespace = target.group.empty() && target.plural == "namespaces";
  attributes.ns = is_namespace ? target.name : target.ns;
  return attributes;
}

StatusError AccessDenied(const User& user, const AccessAttributes& attributes,
                         const std::string& reason) {
  std::string message = DeniedMessage(user, attributes);
  if (!reason.empty()) message += ": " + reason;
  if (!attributes.is_resource) {
    return {403, "Forbidden", "forbidden: " + message, nlohmann::json::object()};
  }
  Resource resource;
  resource.group = attributes.group;
  resource.plural = attributes.resource;
  if (!attributes.name.empty()) return Forbidden(resource, attributes.name, message);
  nlohmann::json details{{"kind", resource.plural}};
  if (!resource.group.empty()) details["group"] = resource.group;
  return {403, "Forbidden", resource.group_resource() + " is forbidden: " + message,
          std::move(details)};
}

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

ServerResponse AccessFilter::Handle(const ServerRequest& request) {
  try {
    return HandleImpersonated(request);
  } catch (const std::exception& error) {
    return ToResponse(
        StatusError(500, "InternalError", std::string("Internal error occurred: ") + error.what()));
  }
}

ServerResponse AccessFilter::HandleImpersonated(const ServerRequest& request) {
  if (!request.impersonation.IsRequested()) return HandleAuthorized(request);
  ServerRequest impersonating = request;
  const auto impersonate = context_.extensions().impersonate;
  if (impersonate == nullptr) {
    return ToResponse({403, "Forbidden", "this API server does not support impersonation"});
  }
  try {
    impersonating.user = impersonate(context_, request.user, request.impersonation);
  } catch (const StatusError& error) {
    return ToResponse(error);
  } catch (const std::invalid_argument& error) {
    return {.status = 500,
            .body = "Internal Server Error: \"" + request.target.raw + "\": " + error.what() + '\n',
            .content_type = "text/plain; charset=utf-8"};
  }
  ServerResponse response = HandleAuthorized(impersonating);
  response.impersonated_user = std::move(impersonating.user);
  return response;
}

ServerResponse AccessFilter::HandleAuthorized(const ServerRequest& request) {
  const AccessAttributes attributes = AttributesOf(request);
  const AccessDecision decision = Authorize(context_, request.user, attributes);
  if (decision.allowed) return handler_.Handle(request);
  return ToResponse(AccessDenied(request.user, attributes, decision.reason));
}

}  // namespace kopp::apiserver
