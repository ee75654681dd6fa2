#include "json/schema_names.hpp"
#include "schema/field_validation.hpp"
#include "validation/kind_strategies.hpp"

#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// The counts in the status of a kind.
struct StatusCounts {
  const char* storage_resource;
  std::vector<const char*> non_negative;
  std::vector<const char*> at_most_replicas;
  const char* ready = "readyReplicas";  // how error messages name this field
};

void ValidateStatusCounts(const StatusCounts& counts, const json& object, FieldErrors& errors) {
  const FieldRef status = FieldRef(object)["status"];
  for (const char* field : counts.non_negative) ValidateNonNegative(status[field], errors);
  const auto validate_at_most = [&](const FieldRef& count, const FieldRef& max,
                                    const std::string& name) {
    if (count.number() <= max.number()) return;
    errors.push_back(InvalidValue(count.path(), count.value(), "cannot be greater than " + name));
  };
  for (const char* field : counts.at_most_replicas) {
    validate_at_most(status[field], status["replicas"], "status.replicas");
  }
  if (counts.at_most_replicas.empty()) return;
  validate_at_most(status["availableReplicas"], status["readyReplicas"], counts.ready);
}

}  // namespace

void AddWorkloadStatusStrategies(StrategiesByKind& strategies) {
  static const StatusCounts all[] = {
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
  for (const StatusCounts& counts : all) {
    strategies[counts.storage_resource].validate_status = [&counts](const json& object,
                                                                    FieldErrors& errors) {
      ValidateStatusCounts(counts, object, errors);
    };
  }
}

}  // namespace kopp::apiserver
