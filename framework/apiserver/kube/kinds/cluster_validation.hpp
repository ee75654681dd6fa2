#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of PriorityClasses, RuntimeClasses and APIServices.
void AddClusterStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
