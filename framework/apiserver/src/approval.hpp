#pragma once

#include "status.hpp"

#include <string>

#include <nlohmann/json.hpp>

// Groups of the Kubernetes project itself ("*.k8s.io"): a definition says by an annotation whether
// the project has agreed to it.

namespace kopp::apiserver {

[[nodiscard]] bool NeedsApproval(const nlohmann::json& definition);

/// What the annotation says, as a condition does; without a reason where it says nothing.
struct Approval {
  std::string status{};
  std::string reason{};
  std::string message{};
};
[[nodiscard]] Approval ApprovalOf(const nlohmann::json& definition);

/// What is wrong with the annotation.
[[nodiscard]] Causes ApprovalProblems(const nlohmann::json& definition);

}  // namespace kopp::apiserver
