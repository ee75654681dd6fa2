#include "checks.hpp"
#include "rules_by_kind.hpp"

#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const std::string group = "rbac.authorization.k8s.io";

void CheckRule(const Part& rule, bool namespaced, Causes& causes) {
  if (rule["verbs"].size() == 0) {
    causes.push_back(Required(rule["verbs"].path(), "verbs must contain at least one value"));
  }
  if (const Part urls = rule["nonResourceURLs"]; urls.size() > 0) {
    if (namespaced) {
      causes.push_back(InvalidValue(urls.path(), urls.value(),
                                    "namespaced rules cannot apply to non-resource URLs"));
    }
    if (rule["apiGroups"].size() + rule["resources"].size() + rule["resourceNames"].size() > 0) {
      causes.push_back(InvalidValue(urls.path(), urls.value(),
                                    "rules cannot apply to both regular resources and "
                                    "non-resource URLs"));
    }
    return;
  }
  for (const auto& [list, of] : {std::pair{"apiGroups", "api group"}, {"resources", "resource"}}) {
    if (rule[list].size() > 0) continue;
    causes.push_back(
        Required(rule[list].path(), std::string("resource rules must supply at least one ") + of));
  }
}

template <bool kNamespaced>
void CheckRole(const json& object, Causes& causes) {
  for (const Part& rule : Part(object)["rules"].items()) CheckRule(rule, kNamespaced, causes);
}

void CheckSubject(const Part& subject, bool namespaced, Causes& causes) {
  const Part name = subject["name"];
  const std::string kind = subject["kind"].text();
  const bool named = CheckGiven(name, causes);
  if (kind == "ServiceAccount") {
    if (named) CheckName(name, &NotADnsSubdomain, causes);
    if (subject["apiGroup"].exists()) CheckOneOf(subject["apiGroup"], {""}, causes);
    if (!namespaced) CheckGiven(subject["namespace"], causes);
  } else if (kind == "User" || kind == "Group") {
    CheckOneOf(subject["apiGroup"], {group}, causes);
  } else {
    CheckOneOf(subject["kind"], {"ServiceAccount", "User", "Group"}, causes);
  }
}

template <bool kNamespaced>
void CheckBinding(const json& object, Causes& causes) {
  const Part role = Part(object)["roleRef"];
  CheckOneOf(role["apiGroup"], {group}, causes);
  CheckOneOf(role["kind"],
             kNamespaced ? std::vector<std::string>{"Role", "ClusterRole"}
                         : std::vector<std::string>{"ClusterRole"},
             causes);
  if (CheckGiven(role["name"], causes)) CheckName(role["name"], &NotAPathSegment, causes);
  for (const Part& subject : Part(object)["subjects"].items()) {
    CheckSubject(subject, kNamespaced, causes);
  }
}

void CheckBindingChange(const json& before, const json& after, Causes& causes) {
  const Part role = Part(after)["roleRef"];
  if (role.is(Part(before)["roleRef"].value())) return;
  causes.push_back(InvalidValue(role.path(), role.value(), "cannot change roleRef"));
}

}  // namespace

void AddRbacRules(RulesByKind& rules) {
  for (const char* kind : {"roles", "rolebindings", "clusterroles", "clusterrolebindings"}) {
    KindRules& rule = rules[std::string(kind) + '.' + group];
    rule.is_name = &NotAPathSegment;
    rule.created_by_update = true;
  }
  rules["roles." + group].check = &CheckRole<true>;
  rules["clusterroles." + group].check = &CheckRole<false>;
  rules["rolebindings." + group].check = &CheckBinding<true>;
  rules["clusterrolebindings." + group].check = &CheckBinding<false>;
  for (const char* kind : {"rolebindings.", "clusterrolebindings."}) {
    rules[kind + group].check_change = &CheckBindingChange;
  }
}

}  // namespace kopp::apiserver
