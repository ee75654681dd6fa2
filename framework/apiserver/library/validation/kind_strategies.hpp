#pragma once

#include "json/schema_names.hpp"
#include "schema/field_ref.hpp"
#include "validation/kind_strategy.hpp"

#include <functional>
#include <map>
#include <string>

// The strategies of the built-in kinds that operators write. Each function adds those of one API
// group or topic. kubectl/strategies contains the strategies of the other kinds.

namespace kopp::apiserver {

/// Strategies by storage resource: "deployments.apps".
using StrategiesByKind = std::map<std::string, KindStrategy, std::less<>>;

/// Returns the function that sets the defaults of the schema of a built-in kind.
[[nodiscard]] std::function<void(nlohmann::json&)> SchemaDefaultsOf(const Resource& resource);

void AddConfigStrategies(StrategiesByKind& strategies);  ///< ConfigMaps, Secrets
void AddPodStrategies(StrategiesByKind& strategies);
void AddPodSubresourceStrategies(StrategiesByKind& strategies);  ///< ephemeralcontainers
void AddWorkloadStrategies(
    StrategiesByKind& strategies);  ///< Deployments, ReplicaSets, StatefulSets, DaemonSets …
void AddWorkloadStatusStrategies(StrategiesByKind& strategies);
void AddJobStrategies(StrategiesByKind& strategies);  ///< Jobs, CronJobs
void AddServiceStrategies(StrategiesByKind& strategies);
void AddRbacStrategies(StrategiesByKind& strategies);
void AddEventStrategies(StrategiesByKind& strategies);
void AddAutoscalingStrategies(StrategiesByKind& strategies);
void AddOtherStrategies(StrategiesByKind& strategies);

/// Validates the Pod template of a workload.
void ValidatePodTemplate(const FieldRef& pod_template, FieldErrors& errors);
/// Validates the spec of a Pod or of a Pod template.
void ValidatePodSpec(const FieldRef& spec, FieldErrors& errors);
/// Validates the containers and init containers of a Pod spec.
void ValidateContainers(const FieldRef& pod_spec, FieldErrors& errors);
/// Validates the ephemeral containers of a Pod spec.
void ValidateEphemeralContainers(const FieldRef& pod_spec, FieldErrors& errors);

}  // namespace kopp::apiserver
