#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of StorageClasses, CSI kinds and VolumeAttachments.
void AddStorageStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
