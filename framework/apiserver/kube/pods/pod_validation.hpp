#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

void AddPodStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
