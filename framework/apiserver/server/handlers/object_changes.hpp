#pragma once

#include "api/write_request.hpp"

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

// Checks and field rules for writes.

namespace kopp::apiserver {

/// Returns whether a write to `subresource` changes the status: "status" or "approval".
[[nodiscard]] bool IsStatusSubresource(std::string_view subresource);

/// Throws StatusError (400) if the name or namespace in `metadata` differs from the URL, or if the
/// name is missing.
void CheckNameMatchesUrl(const WriteRequest& write, const nlohmann::json& metadata);
/// Same for the namespace only.
void CheckNamespaceMatchesUrl(const WriteRequest& write, const nlohmann::json& metadata);

/// Throws StatusError (409) if `metadata` has a uid that differs from that of the stored object's
/// metadata `live`.
void CheckUid(const Resource& resource, const nlohmann::json& live, const nlohmann::json& metadata);
/// Throws StatusError if `metadata` has a resourceVersion that differs from that of `live` (409) or
/// is not a number (500), or if it has none and the kind requires it for updates (422).
void CheckVersion(const Resource& resource, const nlohmann::json& live,
                  const nlohmann::json& metadata);

/// Copies from `live` to `object` the fields that clients cannot change, and the fields that a
/// write to this subresource does not change: a write to "status" keeps the spec and vice versa.
void PreserveFields(const Resource& resource, const std::string& subresource,
                    const nlohmann::json& live, nlohmann::json& object);

/// Returns whether an update from `live` to `object` increments metadata.generation, by the kind's
/// rule.
[[nodiscard]] bool ShouldIncrementGeneration(const Resource& resource, const nlohmann::json& live,
                                             const nlohmann::json& object);

}  // namespace kopp::apiserver
