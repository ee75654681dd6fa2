#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of Services.
void AddServiceStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
