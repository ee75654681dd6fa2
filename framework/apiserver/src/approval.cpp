#include "approval.hpp"

#include "said.hpp"

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kApproval = "api-approved.kubernetes.io";

std::string AnnotationOf(const json& definition) {
  return SaidText(Said(Said(definition, "metadata"), "annotations"), kApproval);
}

}  // namespace

bool NeedsApproval(const json& definition) {
  const std::string group = '.' + SaidText(Said(definition, "spec"), "group");
  return group.ends_with(".k8s.io") || group.ends_with(".kubernetes.io");
}

Approval ApprovalOf(const json& definition) {
  const std::string said = AnnotationOf(definition);
  if (said.starts_with("unapproved")) {
    return {"False", "UnapprovedAnnotation", "not approved: \"" + said + '"'};
  }
  if (said.find("://") != std::string::npos) {
    return {"True", "ApprovedAnnotation", "approved in " + said};
  }
  return {};
}

Causes ApprovalProblems(const json& definition) {
  if (!NeedsApproval(definition) || !ApprovalOf(definition).reason.empty()) return {};
  const std::string field = std::string("metadata.annotations[") + kApproval + ']';
  const std::string must =
      std::string("protected groups must have approval annotation \"") + kApproval + '"';
  const std::string see = ", see https://github.com/kubernetes/enhancements/pull/1111";
  const std::string given = AnnotationOf(definition);
  if (given.empty()) return {Required(field, must + see)};
  return {InvalidValue(field, given,
                       must + " with either a URL or a reason starting with \"unapproved\"" + see)};
}

}  // namespace kopp::apiserver
