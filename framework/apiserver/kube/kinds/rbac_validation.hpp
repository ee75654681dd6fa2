#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of Roles, ClusterRoles and their bindings.
void AddRbacStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
