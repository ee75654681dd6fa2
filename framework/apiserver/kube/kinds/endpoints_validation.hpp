#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

void AddEndpointsStrategies(StrategiesByKind& strategies);
void AddEndpointSliceStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
