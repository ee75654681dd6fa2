#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

void AddWorkloadStrategies(
    StrategiesByKind& strategies);  ///< Deployments, ReplicaSets, StatefulSets, DaemonSets …
void AddWorkloadStatusStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
