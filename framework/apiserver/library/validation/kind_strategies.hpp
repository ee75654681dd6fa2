#pragma once

#include "json/schema_names.hpp"
#include "schema/field_ref.hpp"
#include "validation/kind_strategy.hpp"

#include <functional>
#include <map>
#include <string>

// The strategies of the built-in kinds. Each function adds those of one API group or topic.

namespace kopp::apiserver {

/// Strategies by storage resource: "deployments.apps".
using StrategiesByKind = std::map<std::string, KindStrategy, std::less<>>;

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
void AddEndpointsStrategies(StrategiesByKind& strategies);
void AddEndpointSliceStrategies(StrategiesByKind& strategies);
void AddWebhookStrategies(StrategiesByKind& strategies);  ///< webhook configurations
void AddAdmissionPolicyStrategies(StrategiesByKind& strategies);
void AddAutoscalingStrategies(StrategiesByKind& strategies);
void AddStorageStrategies(StrategiesByKind& strategies);  ///< StorageClasses, CSI kinds …
void AddCertificateStrategies(StrategiesByKind& strategies);
void AddClusterStrategies(
    StrategiesByKind& strategies);  ///< PriorityClasses, RuntimeClasses, APIServices
void AddOtherStrategies(StrategiesByKind& strategies);

/// Validates the Pod template of a workload.
void ValidatePodTemplate(const FieldRef& pod_template, FieldErrors& errors);
/// Validates the spec of a Pod or of a Pod template.
void ValidatePodSpec(const FieldRef& spec, FieldErrors& errors);
/// Requires an IP address that is not unspecified, loopback or link-local.
void ValidateNonSpecialIp(const FieldRef& ip, FieldErrors& errors);
/// Validates the conditions under which a webhook or an admission policy is called.
void ValidateMatchConditions(const FieldRef& conditions, FieldErrors& errors);
/// Validates a rule that says which requests a webhook or an admission policy handles.
void ValidateRuleWithOperations(const FieldRef& rule, FieldErrors& errors);
/// Validates the containers and init containers of a Pod spec.
void ValidateContainers(const FieldRef& pod_spec, FieldErrors& errors);
/// Validates the ephemeral containers of a Pod spec.
void ValidateEphemeralContainers(const FieldRef& pod_spec, FieldErrors& errors);

}  // namespace kopp::apiserver
