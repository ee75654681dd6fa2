#include "kind_rules.hpp"

#include "defaults.hpp"
#include "definition_rules.hpp"
#include "rules_by_kind.hpp"

#include <string>

namespace kopp::apiserver {
namespace {

/// Two groups have Events that are one, and ask for different things in them.
std::string NameOf(const Resource& resource) {
  return resource.kept_as == "events" ? resource.qualified() : resource.kept_as;
}

RulesByKind MakeRules() {
  RulesByKind rules;
  rules[kDefinitions] = RulesOfDefinitions();
  AddConfigRules(rules);
  AddEventRules(rules);
  AddJobRules(rules);
  AddEndpointsRules(rules);
  AddOtherRules(rules);
  AddPodRules(rules);
  AddRbacRules(rules);
  AddServiceRules(rules);
  AddWorkloadRules(rules);
  AddWorkloadStatusRules(rules);
  const Catalog built_in = Catalog::BuiltIn();
  for (const Catalog::Entry& resource : built_in.all()) {
    auto& complete = rules[NameOf(*resource)].complete;
    if (complete) continue;
    complete = [schema = resource->schema](nlohmann::json& object) { FillIn(object, *schema); };
  }
  return rules;
}

}  // namespace

const KindRules& RulesOf(const Resource& resource) {
  if (resource.rules != nullptr) return *resource.rules;
  static const RulesByKind rules = MakeRules();
  static const KindRules others;
  const auto found = rules.find(NameOf(resource));
  return found == rules.end() ? others : found->second;
}

}  // namespace kopp::apiserver
