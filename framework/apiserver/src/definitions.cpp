#include "definitions.hpp"

#include "approval.hpp"
#include "metadata_rules.hpp"
#include "schema_rules.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kCleanup = "customresourcecleanup.apiextensions.k8s.io";

bool IsTrue(const json& definition, const std::string& type) {
  const json& conditions = Said(Said(definition, "status"), "conditions");
  return std::any_of(conditions.begin(), conditions.end(), [&](const json& condition) {
    return Said(condition, "type") == type && Said(condition, "status") == "True";
  });
}

/// The names that others have: of resources and of kinds, which do not mix.
struct Taken {
  std::set<std::string> resources{};
  std::set<std::string> kinds{};
};

Taken NamesOf(const std::vector<json>& definitions) {
  Taken taken;
  for (const json& definition : definitions) {
    const json& names = Said(Said(definition, "status"), "acceptedNames");
    for (const char* name : {"plural", "singular"}) taken.resources.insert(SaidText(names, name));
    for (const std::string& name : SaidTexts(names, "shortNames")) taken.resources.insert(name);
    for (const char* name : {"kind", "listKind"}) taken.kinds.insert(SaidText(names, name));
  }
  return taken;
}

struct NameConflict {
  std::string reason{};
  std::string message{};
};

/// `accepted` gets the names of `wanted` that nobody else has. Returns the last conflict.
NameConflict Accept(const json& wanted, const Taken& taken, json& accepted) {
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
  for (const auto& [name, reason, others] : names) {
    std::vector<std::string> all = SaidTexts(wanted, name);
    if (all.empty()) all = {SaidText(wanted, name)};
    std::string message;
    for (const std::string& each : all) {
      if (each.empty() || !others.contains(each)) continue;
      message += (message.empty() ? "" : ", ") + json(each).dump() + " is already in use";
    }
    if (!message.empty()) {
      conflict = {reason, all.size() > 1 && message.find(", ") != std::string::npos
                              ? '[' + message + ']'
                              : message};
    } else if (wanted.contains(name)) {
      accepted[name] = wanted[name];
    } else {
      accepted.erase(name);
    }
  }
  accepted.erase("categories");
  if (wanted.contains("categories")) accepted["categories"] = wanted["categories"];
  return conflict;
}

}  // namespace

bool IsEstablished(const json& definition) { return IsTrue(definition, "Established"); }

bool IsTerminating(const json& definition) {
  return Said(definition, "metadata").contains("deletionTimestamp");
}

void SetCondition(json& definition, const std::string& type, const std::string& status,
                  const std::string& reason, const std::string& message, const std::string& now) {
  json& conditions = definition["status"]["conditions"];
  const json wanted{{"type", type},
                    {"status", status},
                    {"reason", reason},
                    {"message", message},
                    {"lastTransitionTime", now}};
  for (json& condition : conditions) {
    if (condition["type"] != type) continue;
    const json since = condition["lastTransitionTime"];
    const bool changes = condition["status"] != status;
    condition = wanted;
    if (!changes) condition["lastTransitionTime"] = since;
    return;
  }
  conditions.push_back(wanted);
}

json Judged(json definition, const std::vector<json>& others, const std::string& now) {
  const NameConflict conflict =
      Accept(definition["spec"]["names"], NamesOf(others), definition["status"]["acceptedNames"]);
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

json Terminated(json definition, const std::string& now) {
  if (IsTerminating(definition)) return definition;
  json& metadata = definition["metadata"];
  if (!HasCleanup(definition)) metadata["finalizers"].push_back(kCleanup);
  metadata["deletionTimestamp"] = now;
  SetCondition(definition, "Terminating", "True", "InstanceDeletionPending",
               "CustomResourceDefinition marked for deletion; CustomResource deletion will begin "
               "soon",
               now);
  return definition;
}

bool HasCleanup(const json& definition) {
  const std::vector<std::string> finalizers = FinalizersOf(definition);
  return std::find(finalizers.begin(), finalizers.end(), kCleanup) != finalizers.end();
}

json WithoutCleanup(json definition) {
  json& finalizers = definition["metadata"]["finalizers"];
  finalizers.erase(std::remove(finalizers.begin(), finalizers.end(), kCleanup), finalizers.end());
  if (finalizers.empty()) definition["metadata"].erase("finalizers");
  return definition;
}

}  // namespace kopp::apiserver
