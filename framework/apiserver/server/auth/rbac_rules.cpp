#include "auth/rbac_rules.hpp"

#include "auth/service_account_user.hpp"
#include "schema/accessors.hpp"
#include "schema/field_ref.hpp"
#include "schema/field_validation.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kRoles = "roles.rbac.authorization.k8s.io";
constexpr const char* kClusterRoles = "clusterroles.rbac.authorization.k8s.io";
constexpr const char* kRoleBindings = "rolebindings.rbac.authorization.k8s.io";
constexpr const char* kClusterRoleBindings = "clusterrolebindings.rbac.authorization.k8s.io";

bool SubjectMatches(const json& subject, const User& user, const std::string& binding_ns) {
  const std::string kind = StringField(subject, "kind");
  const std::string name = StringField(subject, "name");
  if (kind == "User") return user.name == name;
  if (kind == "Group") {
    return std::find(user.groups.begin(), user.groups.end(), name) != user.groups.end();
  }
  const std::string ns = StringField(subject, "namespace");
  return kind == "ServiceAccount" &&
         user.name == ServiceAccountUserName(ns.empty() ? binding_ns : ns, name);
}

/// Collects the rules of a ClusterRole and of those that it aggregates. `visited` holds the names
/// of the ClusterRoles that are collected already: they may aggregate each other.
void CollectRules(ServerContext& context, const json& role, std::set<std::string>& visited,
                  json& rules) {
  visited.insert(StringAt(role, "/metadata/name"));
  for (const json& rule : Field(role, "rules")) rules.push_back(rule);
  const json& selectors = ValueAt(role, "/aggregationRule/clusterRoleSelectors");
  if (!selectors.is_array()) return;
  const Store::Snapshot snapshot = context.store().List(kClusterRoles, "");
  for (const auto& [key, stored] : snapshot.objects) {
    if (visited.contains(key.name)) continue;
    const json candidate = json::parse(stored->text);
    const FieldRef labels = FieldRef(candidate)["metadata"]["labels"];
    const bool is_selected = std::any_of(
        selectors.begin(), selectors.end(),
        [&](const json& selector) { return SelectorMatches(FieldRef(selector), labels); });
    if (is_selected) CollectRules(context, candidate, visited, rules);
  }
}

std::string NoRoleError(const json& reference) {
  const bool is_cluster_role = StringField(reference, "kind") == "ClusterRole";
  return fmt::format(R"({}.rbac.authorization.k8s.io "{}" not found)",
                     is_cluster_role ? "clusterrole" : "role", StringField(reference, "name"));
}

/// Visits the rules that one binding gives to the user. Returns whether to continue.
bool VisitBinding(ServerContext& context, const User& user, const std::string& text,
                  bool is_cluster_wide, const RbacRuleVisitor& visit,
                  std::vector<std::string>& errors) {
  const json binding = json::parse(text);
  const std::string ns = StringAt(binding, "/metadata/namespace");
  const json& subjects = Field(binding, "subjects");
  const auto subject = std::find_if(subjects.begin(), subjects.end(), [&](const json& each) {
    return SubjectMatches(each, user, ns);
  });
  if (subject == subjects.end()) return true;
  const json& reference = Field(binding, "roleRef");
  const std::optional<json> rules = RulesOfRole(context, reference, ns);
  if (!rules) {
    errors.push_back(NoRoleError(reference));
    return true;
  }
  const RbacGrant grant{binding, is_cluster_wide, *subject};
  return std::all_of(rules->begin(), rules->end(),
                     [&](const json& rule) { return visit(rule, grant); });
}

}  // namespace

std::optional<json> RulesOfRole(ServerContext& context, const json& reference,
                                const std::string& ns) {
  const bool is_cluster_role = StringField(reference, "kind") == "ClusterRole";
  const StoredObjectPtr stored =
      context.store().Get(is_cluster_role ? kClusterRoles : kRoles,
                          {is_cluster_role ? "" : ns, StringField(reference, "name")});
  if (stored == nullptr) return std::nullopt;
  const json role = json::parse(stored->text);
  json rules = json::array();
  std::set<std::string> visited;
  CollectRules(context, role, visited, rules);
  return rules;
}

std::string RbacGrant::ToString() const {
  const std::string ns = StringAt(binding, "/metadata/namespace");
  const std::string kind = StringField(subject, "kind");
  std::string subject_name = StringField(subject, "name");
  if (kind == "ServiceAccount") {
    const std::string subject_ns = StringField(subject, "namespace");
    subject_name += '/' + (subject_ns.empty() ? ns : subject_ns);
  }
  const std::string name = StringAt(binding, "/metadata/name") + (is_cluster_wide ? "" : '/' + ns);
  return fmt::format(R"({} "{}" of {} "{}" to {} "{}")",
                     is_cluster_wide ? "ClusterRoleBinding" : "RoleBinding", name,
                     StringAt(binding, "/roleRef/kind"), StringAt(binding, "/roleRef/name"), kind,
                     subject_name);
}

std::vector<std::string> VisitRbacRules(ServerContext& context, const User& user,
                                        const std::string& ns, const RbacRuleVisitor& visit) {
  std::vector<std::string> errors;
  const Store::Snapshot cluster_wide = context.store().List(kClusterRoleBindings, "");
  for (const auto& [key, stored] : cluster_wide.objects) {
    if (!VisitBinding(context, user, stored->text, true, visit, errors)) return errors;
  }
  if (ns.empty()) return errors;
  const Store::Snapshot namespaced = context.store().List(kRoleBindings, ns);
  for (const auto& [key, stored] : namespaced.objects) {
    if (!VisitBinding(context, user, stored->text, false, visit, errors)) return errors;
  }
  return errors;
}

}  // namespace kopp::apiserver
