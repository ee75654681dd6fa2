#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of Events.
void AddEventStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
