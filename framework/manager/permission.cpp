#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/permission.hpp>

namespace kopp {
namespace {

/// Writes a list of YAML: ["", "apps"]. Strings are quoted as in JSON, which is valid YAML.
std::string YamlList(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text += (text.empty() ? "" : ", ") + nlohmann::json(item).dump();
  }
  return "[" + text + "]";
}

std::string YamlRole(std::string_view kind, const std::string& name, const std::string& ns,
                     const std::vector<Permission>& rules) {
  std::string text = "apiVersion: rbac.authorization.k8s.io/v1\nkind: " + std::string(kind) +
                     "\nmetadata:\n  name: " + name + "\n";
  if (!ns.empty()) text += "  namespace: " + ns + "\n";
  text += "rules:\n";
  for (const Permission& rule : rules) {
    text += "  - apiGroups: " + YamlList({rule.group}) + "\n";
    text += "    resources: " + YamlList({rule.resource}) + "\n";
    if (!rule.names.empty()) text += "    resourceNames: " + YamlList(rule.names) + "\n";
    text += "    verbs: " + YamlList(rule.verbs) + "\n";
  }
  return text;
}

}  // namespace

Permission PermissionFor(const Kind& kind, std::vector<std::string> verbs,
                         const std::string& subresource) {
  return {.group = std::string(kind.group()),
          .resource = std::string(kind.plural) + (subresource.empty() ? "" : "/" + subresource),
          .verbs = std::move(verbs),
          .cluster_scoped = kind.scope == Scope::kCluster};
}

std::vector<Permission> Merge(const std::vector<Permission>& permissions) {
  using Objects = std::tuple<std::string, std::string, std::string, std::vector<std::string>, bool>;
  std::map<Objects, std::set<std::string>> verbs;
  for (const Permission& rule : permissions) {
    verbs[{rule.ns, rule.group, rule.resource, rule.names, rule.cluster_scoped}].insert(
        rule.verbs.begin(), rule.verbs.end());
  }
  std::vector<Permission> merged;
  for (const auto& [objects, all] : verbs) {
    const auto& [ns, group, resource, names, cluster_scoped] = objects;
    merged.push_back({.group = group,
                      .resource = resource,
                      .verbs = {all.begin(), all.end()},
                      .names = names,
                      .ns = ns,
                      .cluster_scoped = cluster_scoped});
  }
  return merged;
}

std::string PrintRbac(const std::vector<Permission>& permissions, const RbacOptions& options) {
  std::map<std::string, std::vector<Permission>> roles;  // by namespace; "": the ClusterRole
  for (const Permission& rule : Merge(permissions)) {
    if (!rule.ns.empty()) {
      roles[rule.ns].push_back(rule);
    } else if (rule.cluster_scoped || options.namespaces.empty()) {
      roles[""].push_back(rule);
    } else {
      for (const std::string& ns : options.namespaces) roles[ns].push_back(rule);
    }
  }
  std::string text;
  for (const auto& [ns, rules] : roles) {
    if (!text.empty()) text += "---\n";
    text += YamlRole(ns.empty() ? "ClusterRole" : "Role", options.name, ns, rules);
  }
  return text;
}

}  // namespace kopp
