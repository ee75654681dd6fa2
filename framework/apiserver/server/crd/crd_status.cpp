#include "crd/crd_status.hpp"

#include "api/conditions.hpp"
#include "schema/accessors.hpp"
#include "schema/finalizers.hpp"

#include <algorithm>
#include <set>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kApprovalAnnotation = "api-approved.kubernetes.io";

std::string ApprovalAnnotationOf(const json& definition) {
  return StringField(Field(Field(definition, "metadata"), "annotations"), kApprovalAnnotation);
}

constexpr const char* kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

bool IsConditionTrue(const json& definition, const std::string& type) {
  const json& conditions = Field(Field(definition, "status"), "conditions");
  return std::any_of(conditions.begin(), conditions.end(), [&](const json& condition) {
    return Field(condition, "type") == type && Field(condition, "status") == "True";
  });
}

/// The names that other CRDs use. Resource names and kinds do not conflict with each other.
struct TakenNames {
  std::set<std::string> resources{};
  std::set<std::string> kinds{};
};

TakenNames AcceptedNamesOf(const std::vector<json>& definitions) {
  TakenNames taken;
  for (const json& definition : definitions) {
    const json& names = Field(Field(definition, "status"), "acceptedNames");
    for (const char* name : {"plural", "singular"})
      taken.resources.insert(StringField(names, name));
    for (const std::string& name : StringListField(names, "shortNames"))
      taken.resources.insert(name);
    for (const char* name : {"kind", "listKind"}) taken.kinds.insert(StringField(names, name));
  }
  return taken;
}

struct NameConflict {
  std::string reason{};
  std::string message{};
};

/// Copies those names of `requested` that are not taken to `accepted`. Returns the last conflict;
/// its reason is empty if there is none.
NameConflict AcceptNames(const json& requested, const TakenNames& taken, json& accepted) {
  struct Name {
    const char* name;
    const char* reason;
    const std::set<std::string>& taken;
  };
  const Name names[] = {{"plural", "PluralConflict", taken.resources},
                        {"singular", "SingularConflict", taken.resources},
                        {"shortNames", "ShortNamesConflict", taken.resources},
                        {"kind", "KindConflict", taken.kinds},
                        {"listKind", "ListKindConflict", taken.kinds}};
  NameConflict conflict;
  for (const auto& [name, reason, taken_names] : names) {
    std::vector<std::string> candidates = StringListField(requested, name);
    if (candidates.empty()) candidates = {StringField(requested, name)};
    std::string message;
    for (const std::string& candidate : candidates) {
      if (candidate.empty() || !taken_names.contains(candidate)) continue;
      message += (message.empty() ? "" : ", ") + json(candidate).dump() + " is already in use";
    }
    if (!message.empty()) {
      conflict = {reason, candidates.size() > 1 && message.find(", ") != std::string::npos
                              ? '[' + message + ']'
                              : message};
    } else if (requested.contains(name)) {
      accepted[name] = requested[name];
    } else {
      accepted.erase(name);
    }
  }
  accepted.erase("categories");
  if (requested.contains("categories")) accepted["categories"] = requested["categories"];
  return conflict;
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

bool IsEstablished(const json& definition) { return IsConditionTrue(definition, "Established"); }

bool IsTerminating(const json& definition) {
  return Field(definition, "metadata").contains("deletionTimestamp");
}

void SetCondition(json& definition, const std::string& type, const std::string& status,
                  const std::string& reason, const std::string& message, const std::string& now) {
  json condition{{"type", type}, {"status", status}, {"reason", reason}, {"message", message}};
  SetObjectCondition(definition["status"]["conditions"], std::move(condition), now);
}

json WithNamingConditions(json definition, const std::vector<json>& others,
                          const std::string& now) {
  const NameConflict conflict = AcceptNames(definition["spec"]["names"], AcceptedNamesOf(others),
                                            definition["status"]["acceptedNames"]);
  const bool accepted = conflict.reason.empty();
  if (accepted) {
    SetCondition(definition, "NamesAccepted", "True", "NoConflicts", "no conflicts found", now);
  } else {
    SetCondition(definition, "NamesAccepted", "False", conflict.reason, conflict.message, now);
  }
  if (NeedsApproval(definition)) {
    const auto [status, reason, message] = ApprovalOf(definition);
    SetCondition(definition, "KubernetesAPIApprovalPolicyConformant", status, reason, message, now);
  }
  if (IsEstablished(definition)) return definition;
  if (accepted) {
    SetCondition(definition, "Established", "True", "InitialNamesAccepted",
                 "the initial names have been accepted", now);
  } else {
    SetCondition(definition, "Established", "False", "NotAccepted", "not all names are accepted",
                 now);
  }
  return definition;
}

json StartDeletion(json definition, const std::string& now) {
  if (IsTerminating(definition)) return definition;
  json& metadata = definition["metadata"];
  if (!HasCleanupFinalizer(definition)) metadata["finalizers"].push_back(kCleanupFinalizer);
  metadata["deletionTimestamp"] = now;
  SetCondition(definition, "Terminating", "True", "InstanceDeletionPending",
               "CustomResourceDefinition marked for deletion; CustomResource deletion will begin "
               "soon",
               now);
  return definition;
}

bool HasCleanupFinalizer(const json& definition) {
  const std::vector<std::string> finalizers = FinalizersOf(definition);
  return std::find(finalizers.begin(), finalizers.end(), kCleanupFinalizer) != finalizers.end();
}

json WithoutCleanupFinalizer(json definition) {
  json& finalizers = definition["metadata"]["finalizers"];
  finalizers.erase(std::remove(finalizers.begin(), finalizers.end(), kCleanupFinalizer),
                   finalizers.end());
  if (finalizers.empty()) definition["metadata"].erase("finalizers");
  return definition;
}

}  // namespace kopp::apiserver
