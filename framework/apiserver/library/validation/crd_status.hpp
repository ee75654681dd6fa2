#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// The status and the deletion of CustomResourceDefinitions.

namespace kopp::apiserver {

/// Returns whether the condition Established is True.
[[nodiscard]] bool IsEstablished(const nlohmann::json& definition);
/// Returns whether the CRD is being deleted.
[[nodiscard]] bool IsTerminating(const nlohmann::json& definition);

/// Returns the CRD with its accepted names and the conditions NamesAccepted and Established. A name
/// is accepted unless one of `others`, the other CRDs of the group, has it already. `now` is the
/// time in RFC 3339.
[[nodiscard]] nlohmann::json WithNamingConditions(nlohmann::json definition,
                                                  const std::vector<nlohmann::json>& others,
                                                  const std::string& now);

/// Returns the CRD with a deletionTimestamp, the cleanup finalizer and the condition Terminating; a
/// terminating CRD is returned unchanged.
[[nodiscard]] nlohmann::json StartDeletion(nlohmann::json definition, const std::string& now);

/// Returns whether the CRD has the cleanup finalizer: its objects must be deleted before it.
[[nodiscard]] bool HasCleanupFinalizer(const nlohmann::json& definition);
/// Returns the CRD without the cleanup finalizer.
[[nodiscard]] nlohmann::json WithoutCleanupFinalizer(nlohmann::json definition);

/// Sets the condition `type`. Its lastTransitionTime becomes `now` only if `status` changes.
void SetCondition(nlohmann::json& definition, const std::string& type, const std::string& status,
                  const std::string& reason, const std::string& message, const std::string& now);

}  // namespace kopp::apiserver
