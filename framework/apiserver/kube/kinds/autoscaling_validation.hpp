#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of HorizontalPodAutoscalers.
void AddAutoscalingStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
