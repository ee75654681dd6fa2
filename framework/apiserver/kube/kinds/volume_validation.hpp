#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

void AddVolumeStrategies(
    StrategiesByKind& strategies);  ///< PersistentVolumes, PersistentVolumeClaims

}  // namespace kopp::apiserver
