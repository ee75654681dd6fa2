#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of ConfigMaps and Secrets.
void AddConfigStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
