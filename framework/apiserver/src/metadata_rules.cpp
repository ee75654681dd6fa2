#include "metadata_rules.hpp"

#include "said.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxAnnotations = 256 << 10;

void CheckLabels(const json& labels, Causes& causes) {
  for (const auto& [name, value] : labels.items()) {
    for (const std::string& why : QualifiedNameProblems(name)) {
      causes.push_back(InvalidValue("metadata.labels", name, why));
    }
    if (const Why why = NotALabelValue(value.get<std::string>())) {
      causes.push_back(InvalidValue("metadata.labels", value, *why));
    }
  }
}

void CheckAnnotations(const json& annotations, Causes& causes) {
  std::size_t size = 0;
  for (const auto& [name, value] : annotations.items()) {
    size += name.size() + value.get_ref<const std::string&>().size();
    for (const std::string& why : QualifiedNameProblems(Lower(name))) {
      causes.push_back(InvalidValue("metadata.annotations", name, why));
    }
  }
  if (size > kMaxAnnotations) causes.push_back(TooLong("metadata.annotations", kMaxAnnotations));
}

/// As Go prints an OwnerReference.
nlohmann::ordered_json Printed(const json& owner) {
  nlohmann::ordered_json printed;
  for (const char* name : {"apiVersion", "kind", "name", "uid"})
    printed[name] = SaidText(owner, name);
  for (const char* name : {"controller", "blockOwnerDeletion"}) {
    if (owner.contains(name)) printed[name] = owner[name];
  }
  return printed;
}

Cause InvalidOwner(const std::string& printed, const std::string& why) {
  return {"FieldValueInvalid", "Invalid value: " + printed + ": " + why,
          "metadata.ownerReferences"};
}

void CheckOwners(const json& owners, Causes& causes) {
  std::string controller;
  for (const json& owner : owners) {
    const std::string version = SaidText(owner, "apiVersion");
    const std::string kind = SaidText(owner, "kind");
    const std::string name = SaidText(owner, "name");
    const std::string field = "metadata.ownerReferences.";
    if (version.empty()) {
      causes.push_back(InvalidValue(field + "apiVersion", version, "version must not be empty"));
    }
    if (kind.empty()) causes.push_back(InvalidValue(field + "kind", kind, "must not be empty"));
    if (name.empty()) causes.push_back(InvalidValue(field + "name", name, "must not be empty"));
    if (SaidText(owner, "uid").empty()) {
      causes.push_back(InvalidValue(field + "uid", "", "must not be empty"));
    }
    if (version == "v1" && kind == "Event") {
      causes.push_back(
          InvalidOwner(Printed(owner).dump(), "/v1, Kind=Event is disallowed from being an owner"));
    }
    if (Said(owner, "controller") != true) continue;
    if (!controller.empty()) {
      nlohmann::ordered_json all = nlohmann::ordered_json::array();
      for (const json& each : owners) all.push_back(Printed(each));
      causes.push_back(
          InvalidOwner(all.dump(),
                       "Only one reference can have Controller set to true. Found \"true\" in "
                       "references for " +
                           controller + " and " + kind + '/' + name));
    }
    controller = kind + '/' + name;
  }
}

void CheckFinalizers(const json& object, Causes& causes) {
  const std::vector<std::string> finalizers = FinalizersOf(object);
  bool orphan = false;
  bool foreground = false;
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const std::string& name = finalizers[i];
    orphan |= name == "orphan";
    foreground |= name == "foregroundDeletion";
    const std::vector<std::string> problems = QualifiedNameProblems(name);
    for (const std::string& why : problems) {
      causes.push_back(InvalidValue("metadata.finalizers", name, why));
    }
    if (problems.empty() && name.find('/') == std::string::npos && name != "orphan" &&
        name != "foregroundDeletion" && name != "kubernetes") {
      causes.push_back(
          InvalidValue("metadata.finalizers[" + std::to_string(i) + ']', name,
                       "name is neither a standard finalizer name nor is it fully qualified"));
    }
  }
  if (orphan && foreground) {
    causes.push_back(InvalidValue("metadata.finalizers", finalizers,
                                  "finalizer orphan and foregroundDeletion cannot be both set"));
  }
}

void CheckParts(const json& object, Causes& causes) {
  const json& metadata = Said(object, "metadata");
  CheckLabels(Said(metadata, "labels"), causes);
  CheckAnnotations(Said(metadata, "annotations"), causes);
  CheckOwners(Said(metadata, "ownerReferences"), causes);
  CheckFinalizers(object, causes);
}

void CheckNewFinalizers(const json& before, const json& after, Causes& causes) {
  if (!Said(before, "metadata").contains("deletionTimestamp")) return;
  const std::vector<std::string> known = FinalizersOf(before);
  std::string added;
  for (const std::string& name : FinalizersOf(after)) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    added += (added.empty() ? "\"" : ", \"") + name + '"';
  }
  if (added.empty()) return;
  causes.push_back(ForbiddenField("metadata.finalizers",
                                  "no new finalizers can be added if the object is being deleted, "
                                  "found new finalizers []string{" +
                                      added + '}'));
}

}  // namespace

Causes MetadataProblems(const json& object, const std::function<Why(std::string_view)>& is_name) {
  Causes causes;
  const json& metadata = Said(object, "metadata");
  const std::string name = SaidText(metadata, "name");
  if (name.empty()) {
    causes.push_back(Required("metadata.name", "name or generateName is required"));
  } else if (const Why why = is_name(name)) {
    causes.push_back(InvalidValue("metadata.name", name, *why));
  }
  CheckParts(object, causes);
  return causes;
}

Causes MetadataChangeProblems(const json& before, const json& after) {
  Causes causes;
  CheckParts(after, causes);
  const json& was = Said(before, "metadata");
  const json& is = Said(after, "metadata");
  CheckNewFinalizers(before, after, causes);
  for (const char* field : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds"}) {
    if (Said(was, field) == Said(is, field)) continue;
    causes.push_back(
        InvalidValue(std::string("metadata.") + field, Said(is, field), "field is immutable"));
  }
  return causes;
}

std::string KeepEachOwnerOnce(json& object) {
  auto& metadata = object["metadata"];
  const auto owners = metadata.find("ownerReferences");
  if (owners == metadata.end()) return "";
  std::set<json> seen;
  std::set<std::string> twice;
  json kept = json::array();
  for (const json& owner : *owners) {
    if (seen.insert(owner).second) {
      kept.push_back(owner);
    } else {
      twice.insert(SaidText(owner, "uid"));
    }
  }
  if (twice.empty()) return "";
  *owners = std::move(kept);
  std::string uids;
  for (const std::string& uid : twice) uids += (uids.empty() ? "" : ", ") + uid;
  return ".metadata.ownerReferences contains duplicate entries; API server dedups owner references "
         "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "
         "duplicate UID(s) observed: " +
         uids;
}

std::vector<std::string> FinalizersOf(const json& object) {
  return SaidTexts(Said(object, "metadata"), "finalizers");
}

}  // namespace kopp::apiserver
