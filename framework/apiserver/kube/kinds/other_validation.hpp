#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"
#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of the kinds that have no source of their own, such as Namespaces.
void AddOtherStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
