#include "checks.hpp"
#include "rules_by_kind.hpp"

#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// What a kind's status counts.
struct Counts {
  const char* kept_as;
  std::vector<const char*> not_negative;
  std::vector<const char*> among_replicas;
  const char* ready = "readyReplicas";  // as the message about them has it
};

void Check(const Counts& counts, const json& object, Causes& causes) {
  const Part status = Part(object)["status"];
  for (const char* field : counts.not_negative) CheckNotNegative(status[field], causes);
  const auto check_at_most = [&](const Part& count, const Part& most, const std::string& name) {
    if (count.number() <= most.number()) return;
    causes.push_back(InvalidValue(count.path(), count.value(), "cannot be greater than " + name));
  };
  for (const char* field : counts.among_replicas) {
    check_at_most(status[field], status["replicas"], "status.replicas");
  }
  if (counts.among_replicas.empty()) return;
  check_at_most(status["availableReplicas"], status["readyReplicas"], counts.ready);
}

}  // namespace

void AddWorkloadStatusRules(RulesByKind& rules) {
  static const Counts all[] = {
      {"deployments.apps",
       {"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
        "unavailableReplicas", "terminatingReplicas", "collisionCount"},
       {"updatedReplicas", "readyReplicas", "availableReplicas"}},
      {"replicasets.apps",
       {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
        "observedGeneration", "terminatingReplicas"},
       {"fullyLabeledReplicas", "readyReplicas", "availableReplicas"}},
      {"replicationcontrollers",
       {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
        "observedGeneration"},
       {"fullyLabeledReplicas", "readyReplicas", "availableReplicas"}},
      {"statefulsets.apps",
       {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas",
        "observedGeneration", "collisionCount"},
       {"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"},
       "status.readyReplicas"},
      {"daemonsets.apps",
       {"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
        "observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable",
        "collisionCount"},
       {}},
  };
  for (const Counts& counts : all) {
    rules[counts.kept_as].check_status = [&counts](const json& object, Causes& causes) {
      Check(counts, object, causes);
    };
  }
}

}  // namespace kopp::apiserver
