#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

void AddEventStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
