#pragma once

#include "validation/kind_strategy.hpp"

// The strategies of built-in kinds that operators rarely write. Each function adds those of one API
// group or topic.

namespace kopp::apiserver {

void AddEndpointsStrategies(StrategiesByKind& strategies);
void AddEndpointSliceStrategies(StrategiesByKind& strategies);
void AddWebhookStrategies(StrategiesByKind& strategies);  ///< webhook configurations
void AddAdmissionPolicyStrategies(StrategiesByKind& strategies);
void AddStorageStrategies(StrategiesByKind& strategies);  ///< StorageClasses, CSI kinds …
void AddCertificateStrategies(StrategiesByKind& strategies);
void AddClusterStrategies(
    StrategiesByKind& strategies);  ///< PriorityClasses, RuntimeClasses, APIServices

/// Validates the conditions under which a webhook or an admission policy is called.
void ValidateMatchConditions(const FieldRef& conditions, FieldErrors& errors);
/// Validates a rule that says which requests a webhook or an admission policy handles.
void ValidateRuleWithOperations(const FieldRef& rule, FieldErrors& errors);

}  // namespace kopp::apiserver
