#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of PersistentVolumes and PersistentVolumeClaims.
void AddVolumeStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
