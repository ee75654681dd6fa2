#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

void AddClusterStrategies(
    StrategiesByKind& strategies);  ///< PriorityClasses, RuntimeClasses, APIServices

}  // namespace kopp::apiserver
