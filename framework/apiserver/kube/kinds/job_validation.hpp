#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of Jobs and CronJobs.
void AddJobStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
