#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of Deployments, ReplicaSets, StatefulSets, DaemonSets and others.
void AddWorkloadStrategies(StrategiesByKind& strategies);
/// Adds the rules of the status of workloads.
void AddWorkloadStatusStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
