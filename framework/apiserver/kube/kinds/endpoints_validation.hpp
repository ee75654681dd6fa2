#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategy of Endpoints.
void AddEndpointsStrategies(StrategiesByKind& strategies);
/// Adds the strategy of EndpointSlices.
void AddEndpointSliceStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
