// The rules of the ClusterRoles for users: admin, edit and view.
#include "auth/bootstrap_policy.hpp"
#include "json/schema_names.hpp"
#include "schema/consume_until.hpp"

#include <string_view>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

// The ClusterRoles that admin, edit and view aggregate: the name, then a line for each rule with
// its verbs, its API group ("-": the core group) and its resources. Lines with two spaces continue
// it.
constexpr std::string_view kUserRoles = R"(system:aggregate-to-admin
 create authorization.k8s.io localsubjectaccessreviews
 all rbac.authorization.k8s.io rolebindings roles
system:aggregate-to-edit
 read - pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy
 impersonate - serviceaccounts
 write - pods pods/attach pods/exec pods/portforward pods/proxy
 create - pods/eviction
 write - configmaps events persistentvolumeclaims replicationcontrollers
  replicationcontrollers/scale secrets serviceaccounts services services/proxy
 create - serviceaccounts/token
 write apps daemonsets deployments deployments/rollback deployments/scale replicasets
  replicasets/scale statefulsets statefulsets/scale
 write autoscaling horizontalpodautoscalers
 write batch cronjobs jobs
 write extensions daemonsets deployments deployments/rollback deployments/scale ingresses
  networkpolicies replicasets replicasets/scale replicationcontrollers/scale
 write policy poddisruptionbudgets
 write networking.k8s.io ingresses networkpolicies
 all coordination.k8s.io leases
 write resource.k8s.io resourceclaims resourceclaimtemplates
system:aggregate-to-view
 read - configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods
  replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status
 read - bindings events limitranges namespaces/status pods/log pods/status
  replicationcontrollers/status resourcequotas resourcequotas/status
 read - namespaces
 read discovery.k8s.io endpointslices
 read apps controllerrevisions daemonsets daemonsets/status deployments deployments/scale
  deployments/status replicasets replicasets/scale replicasets/status statefulsets
  statefulsets/scale statefulsets/status
 read autoscaling horizontalpodautoscalers horizontalpodautoscalers/status
 read batch cronjobs cronjobs/status jobs jobs/status
 read extensions daemonsets daemonsets/status deployments deployments/scale deployments/status
  ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status
  replicationcontrollers/scale
 read policy poddisruptionbudgets poddisruptionbudgets/status
 read networking.k8s.io ingresses ingresses/status networkpolicies
 read resource.k8s.io resourceclaims resourceclaims/status resourceclaimtemplates
)";

json VerbsOf(std::string_view name) {
  if (name == "read") return {"get", "list", "watch"};
  if (name == "write") return {"create", "delete", "deletecollection", "patch", "update"};
  if (name != "all") return json::array({std::string(name)});
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

void AddResources(json& rule, std::string_view names) {
  while (!names.empty()) rule["resources"].push_back(ConsumeUntil(names, ' '));
}

json ParseRule(std::string_view line) {
  const std::string_view verbs = ConsumeUntil(line, ' ');
  const std::string_view group = ConsumeUntil(line, ' ');
  json rule{{"verbs", VerbsOf(verbs)},
            {"apiGroups", json::array({group == "-" ? "" : std::string(group)})}};
  AddResources(rule, line);
  return rule;
}

}  // namespace

std::map<std::string, json> RulesOfUserRoles() {
  std::map<std::string, json> roles;
  json* rules = nullptr;
  std::string_view text = kUserRoles;
  while (!text.empty()) {
    const std::string_view line = ConsumeUntil(text, '\n');
    if (!line.starts_with(' ')) {
      rules = &roles[std::string(line)];
    } else if (line.starts_with("  ")) {
      AddResources(rules->back(), line.substr(2));
    } else {
      rules->push_back(ParseRule(line.substr(1)));
    }
  }
  return roles;
}

}  // namespace kopp::apiserver
