#pragma once

#include "kind_rules.hpp"
#include "part.hpp"

#include <functional>
#include <map>
#include <string>

// Where the rules of the built-in kinds come from, one source for those that belong together.

namespace kopp::apiserver {

/// By what the objects are kept under.
using RulesByKind = std::map<std::string, KindRules, std::less<>>;

void AddConfigRules(RulesByKind& rules);  ///< ConfigMaps, Secrets
void AddPodRules(RulesByKind& rules);
void AddWorkloadRules(
    RulesByKind& rules);  ///< Deployments, ReplicaSets, StatefulSets, DaemonSets …
void AddWorkloadStatusRules(RulesByKind& rules);
void AddJobRules(RulesByKind& rules);  ///< Jobs, CronJobs
void AddServiceRules(RulesByKind& rules);
void AddRbacRules(RulesByKind& rules);
void AddEventRules(RulesByKind& rules);
void AddEndpointsRules(RulesByKind& rules);
void AddOtherRules(RulesByKind& rules);

void CheckPodTemplate(const Part& pod_template, Causes& causes);
void CheckPodSpec(const Part& spec, Causes& causes);
void CheckContainers(const Part& pod_spec, Causes& causes);

}  // namespace kopp::apiserver
