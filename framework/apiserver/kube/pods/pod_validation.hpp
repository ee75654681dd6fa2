#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of Pods and PodTemplates.
void AddPodStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
