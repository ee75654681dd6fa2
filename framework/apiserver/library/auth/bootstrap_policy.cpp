#include "auth/bootstrap_policy.hpp"

#include "storage/stored_objects.hpp"

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kRbacGroup = "rbac.authorization.k8s.io";

json CreateRule(const char* group, std::vector<std::string> resources) {
  return {{"verbs", {"create"}}, {"apiGroups", {group}}, {"resources", std::move(resources)}};
}

json GetRule(std::vector<std::string> urls) {
  return {{"verbs", {"get"}}, {"nonResourceURLs", std::move(urls)}};
}

void CreateBootstrapObject(ServerContext& context, const char* plural, const std::string& name,
                           json object, const json& labels = json::object()) {
  const ResourcePtr resource = context.catalog()->Find(kRbacGroup, "v1", plural);
  object["metadata"] = {{"name", name},
                        {"uid", context.NewUid()},
                        {"creationTimestamp", context.Now()},
                        {"labels", labels},
                        {"annotations", {{"rbac.authorization.kubernetes.io/autoupdate", "true"}}}};
  object["metadata"]["labels"]["kubernetes.io/bootstrapping"] = "rbac-defaults";
  const ObjectAttributes attributes = ObjectAttributesOf(*resource, object);
  context.store().Put(resource->storage_resource, {"", name}, nullptr, object, attributes);
}

/// Creates a ClusterRole, and a ClusterRoleBinding of the same name for the groups.
void CreateBootstrapRole(ServerContext& context, const std::string& name, json rules,
                         const std::vector<std::string>& groups) {
  CreateBootstrapObject(context, "clusterroles", name, {{"rules", std::move(rules)}});
  json subjects = json::array();
  for (const std::string& group : groups) {
    subjects.push_back({{"kind", "Group"}, {"apiGroup", kRbacGroup}, {"name", group}});
  }
  CreateBootstrapObject(
      context, "clusterrolebindings", name,
      {{"subjects", std::move(subjects)},
       {"roleRef", {{"apiGroup", kRbacGroup}, {"kind", "ClusterRole"}, {"name", name}}}});
}

/// Creates the ClusterRole `name`, which aggregates the ClusterRoles with a label that contains its
/// name, and the ClusterRole with its rules. The next larger role `parent` aggregates it, too.
void CreateUserRole(ServerContext& context, const std::string& name, const std::string& parent) {
  const auto label = [](const std::string& role) {
    return json{{"rbac.authorization.k8s.io/aggregate-to-" + role, "true"}};
  };
  const json selector{{"matchLabels", label(name)}};
  CreateBootstrapObject(context, "clusterroles", name,
                        {{"aggregationRule", {{"clusterRoleSelectors", json::array({selector})}}},
                         {"rules", nullptr}},
                        parent.empty() ? json::object() : label(parent));
  const std::string part = "system:aggregate-to-" + name;
  CreateBootstrapObject(context, "clusterroles", part, {{"rules", RulesOfUserRoles().at(part)}},
                        label(name));
}

}  // namespace

void CreateBootstrapPolicy(ServerContext& context) {
  CreateUserRole(context, "admin", "");
  CreateUserRole(context, "edit", "admin");
  CreateUserRole(context, "view", "edit");
  CreateBootstrapObject(
      context, "clusterroles", "system:auth-delegator",
      {{"rules", json::array({CreateRule("authentication.k8s.io", {"tokenreviews"}),
                              CreateRule("authorization.k8s.io", {"subjectaccessreviews"})})}});
  const char* authenticated = "system:authenticated";
  CreateBootstrapRole(context, "system:basic-user",
                      json::array({CreateRule("authorization.k8s.io", {"selfsubjectaccessreviews",
                                                                       "selfsubjectrulesreviews"}),
                                   CreateRule("authentication.k8s.io", {"selfsubjectreviews"})}),
                      {authenticated});
  CreateBootstrapRole(
      context, "system:discovery",
      json::array({GetRule({"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
                            "/openapi/*", "/readyz", "/version", "/version/"})}),
      {authenticated});
  CreateBootstrapRole(
      context, "system:public-info-viewer",
      json::array({GetRule({"/healthz", "/livez", "/readyz", "/version", "/version/"})}),
      {authenticated, "system:unauthenticated"});
}

}  // namespace kopp::apiserver
