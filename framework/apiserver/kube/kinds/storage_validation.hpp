#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

void AddStorageStrategies(StrategiesByKind& strategies);  ///< StorageClasses, CSI kinds …

}  // namespace kopp::apiserver
