#pragma once

#include "api/status.hpp"

#include <string>

#include <nlohmann/json.hpp>

// Approval of CRDs in the API groups of the Kubernetes project ("*.k8s.io", "*.kubernetes.io"): an
// annotation of the CRD says whether the project has approved it.

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

}  // namespace kopp::apiserver
