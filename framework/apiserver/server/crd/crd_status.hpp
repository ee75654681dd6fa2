#pragma once

#include "api/status.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// The status and the deletion of CustomResourceDefinitions, and the approval of those in the API
// groups of the Kubernetes project ("*.k8s.io", "*.kubernetes.io"): an annotation of the CRD says
// whether the project has approved it.

namespace kopp::apiserver {

/// Returns whether the group of the CRD requires the annotation.
[[nodiscard]] bool NeedsApproval(const nlohmann::json& definition);

/// The condition KubernetesAPIApprovalPolicyConformant that follows from the annotation. `reason`
/// is empty if the annotation is missing or invalid.
struct Approval {
  std::string status{};
  std::string reason{};
  std::string message{};
};
[[nodiscard]] Approval ApprovalOf(const nlohmann::json& definition);

/// Returns the error of a missing or invalid annotation, if the CRD requires one.
[[nodiscard]] FieldErrors ValidateApproval(const nlohmann::json& definition);

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
