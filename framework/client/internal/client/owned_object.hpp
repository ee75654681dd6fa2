#pragma once

#include <algorithm>
#include <string_view>

#include <kopp/informer/object.hpp>

namespace kopp::detail {

/// Returns whether the object with `uid` owns the object with `metadata`, and no other object
/// controls that.
[[nodiscard]] inline bool IsOwnedOnlyBy(const ObjectMeta& metadata, std::string_view uid) {
  const OwnerReference* const controller = ControllerOf(metadata);
  if (controller != nullptr) return controller->uid == uid;
  return std::ranges::any_of(metadata.ownerReferences,
                             [&](const OwnerReference& owner) { return owner.uid == uid; });
}

}  // namespace kopp::detail
