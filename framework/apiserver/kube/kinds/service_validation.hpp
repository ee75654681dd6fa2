#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

void AddServiceStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
