#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"
#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of webhook configurations.
void AddWebhookStrategies(StrategiesByKind& strategies);
/// Validates the conditions under which a webhook or an admission policy is called.
void ValidateMatchConditions(const FieldRef& conditions, FieldErrors& errors);
/// Validates a rule that says which requests a webhook or an admission policy handles.
void ValidateRuleWithOperations(const FieldRef& rule, FieldErrors& errors);

}  // namespace kopp::apiserver
