#include "validation/crd_approval.hpp"

#include "json/schema_names.hpp"
#include "schema/accessors.hpp"

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kApprovalAnnotation = "api-approved.kubernetes.io";

std::string ApprovalAnnotationOf(const json& definition) {
  return StringField(Field(Field(definition, "metadata"), "annotations"), kApprovalAnnotation);
}

}  // namespace

bool NeedsApproval(const json& definition) {
  const std::string group = '.' + StringField(Field(definition, "spec"), "group");
  return group.ends_with(".k8s.io") || group.ends_with(".kubernetes.io");
}

Approval ApprovalOf(const json& definition) {
  const std::string annotation = ApprovalAnnotationOf(definition);
  if (annotation.starts_with("unapproved")) {
    return {"False", "UnapprovedAnnotation", "not approved: \"" + annotation + '"'};
  }
  if (annotation.find("://") != std::string::npos) {
    return {"True", "ApprovedAnnotation", "approved in " + annotation};
  }
  return {};
}

FieldErrors ValidateApproval(const json& definition) {
  if (!NeedsApproval(definition) || !ApprovalOf(definition).reason.empty()) return {};
  const std::string path = std::string("metadata.annotations[") + kApprovalAnnotation + ']';
  const std::string requirement =
      std::string("protected groups must have approval annotation \"") + kApprovalAnnotation + '"';
  const std::string reference = ", see https://github.com/kubernetes/enhancements/pull/1111";
  const std::string annotation = ApprovalAnnotationOf(definition);
  if (annotation.empty()) return {Required(path, requirement + reference)};
  return {InvalidValue(
      path, annotation,
      requirement + " with either a URL or a reason starting with \"unapproved\"" + reference)};
}

}  // namespace kopp::apiserver
