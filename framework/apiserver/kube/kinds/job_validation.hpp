#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

void AddJobStrategies(StrategiesByKind& strategies);  ///< Jobs, CronJobs

}  // namespace kopp::apiserver
