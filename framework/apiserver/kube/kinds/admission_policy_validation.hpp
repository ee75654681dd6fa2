#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of admission policies and their bindings.
void AddAdmissionPolicyStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
