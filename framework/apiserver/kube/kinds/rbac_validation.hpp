#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

void AddRbacStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
