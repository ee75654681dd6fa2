#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

void AddAutoscalingStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
