#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

void AddAdmissionPolicyStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
