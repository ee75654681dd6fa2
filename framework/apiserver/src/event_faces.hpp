#pragma once

#include "resource.hpp"

#include <nlohmann/json.hpp>

// An Event is one object that two groups name differently. It is kept as the core group has it; all
// else is kept as it is.

namespace kopp::apiserver {

/// Whether objects of the resource are kept in other words than theirs.
[[nodiscard]] bool HasOwnFace(const Resource& resource);

/// An object of the resource, as it is kept.
[[nodiscard]] nlohmann::json ToKept(const Resource& resource, nlohmann::json object);
/// What is kept, as an object of the resource.
[[nodiscard]] nlohmann::json FromKept(const Resource& resource, nlohmann::json object);

}  // namespace kopp::apiserver
