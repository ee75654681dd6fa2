#pragma once

#include "resource.hpp"
#include "world.hpp"
#include "write_options.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// The finalizers by which an object waits until its dependents have lost it, or are gone.
inline constexpr const char* kOrphan = "orphan";
inline constexpr const char* kForeground = "foregroundDeletion";

/// Throws a Refusal where `metadata` is not what the deletion is for.
void CheckPreconditions(const Resource& resource, const std::string& name,
                        const nlohmann::json& metadata, const DeleteOptions& options);

/// `object` as a deletion leaves it: marked for its end, once. Nothing may keep it any more then.
[[nodiscard]] nlohmann::json Marked(World& world, const Resource& resource, nlohmann::json object,
                                    const DeleteOptions& options);

}  // namespace kopp::apiserver
