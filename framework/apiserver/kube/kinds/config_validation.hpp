#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

void AddConfigStrategies(StrategiesByKind& strategies);  ///< ConfigMaps, Secrets

}  // namespace kopp::apiserver
