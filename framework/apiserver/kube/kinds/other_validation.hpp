#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"
#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of the kinds that have no source of their own, such as Namespaces.
void AddOtherStrategies(StrategiesByKind& strategies);
/// Requires a number of at least 0 or a percentage of at most 100%.
void ValidateIntOrPercentUpTo100(const FieldRef& value, FieldErrors& errors);
/// Requires that a percentage is at most 100%.
void ValidateAtMost100Percent(const FieldRef& value, FieldErrors& errors);
/// Validates a path with a domain as prefix: "example.com/ingress".
void ValidateDomainPrefixedPath(const FieldRef& path, FieldErrors& errors);

}  // namespace kopp::apiserver
