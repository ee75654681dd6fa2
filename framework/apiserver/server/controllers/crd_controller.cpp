#include "controllers/crd_controller.hpp"

#include "crd/crd_status.hpp"
#include "crd/crd_validation.hpp"
#include "crd/custom_resources.hpp"
#include "fieldmanager/managed_fields.hpp"
#include "schema/finalizers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

std::string GroupOf(const json& crd) { return crd["spec"]["group"]; }

/// Returns the storage resource of the CRD's objects, which is the name of the CRD.
std::string StorageResourceOf(const json& crd) { return crd["metadata"]["name"]; }

/// Returns the fields of a CRD that its served resources depend on.
json ServedConfigOf(const json& crd) {
  return {{"spec", crd["spec"]},
          {"names", crd["status"]["acceptedNames"]},
          {"uid", crd["metadata"]["uid"]},
          {"terminating", IsTerminating(crd)}};
}

const Schema& CrdSchema() { return *Schemas::BuiltIn().Find("CustomResourceDefinition"); }

}  // namespace

CrdController::CrdController(ServerContext& context)
    : context_(context),
      collector_(context),
      listener_(context.store(), kCrdStorageResource, [this] { ++writes_; }) {}

void CrdController::Sync() {
  if (processed_writes_ == writes_ && !has_terminating_crd_) return;
  const std::lock_guard lock(mutex_);
  // Repeats until there are no more changes, because one CRD's change can affect another: for
  // example it frees a name.
  do {
    const unsigned writes = writes_;
    UpdateNamingConditions(ReloadCrds());
    for (auto& [name, state] : crds_) UpdateServedVersions(state);
    for (const auto& [name, state] : crds_) {
      if (IsTerminating(state.crd)) DeleteInstances(state);
    }
    processed_writes_ = writes;
  } while (processed_writes_ != writes_);
  has_terminating_crd_ = std::any_of(crds_.begin(), crds_.end(), [](const auto& entry) {
    return IsTerminating(entry.second.crd);
  });
}

// Reads all CRDs from the store. Returns the API groups whose CRDs have changed since the last
// call.
std::set<std::string> CrdController::ReloadCrds() {
  std::set<std::string> changed;
  std::map<std::string, CrdState> crds;
  for (auto& [key, stored] : context_.store().List(kCrdStorageResource, "").objects) {
    CrdState& state = crds[key.name];
    if (const auto previous = crds_.find(key.name); previous != crds_.end()) {
      state = std::move(previous->second);
      crds_.erase(previous);
    }
    if (state.stored == stored) continue;
    state.stored = stored;
    state.crd = json::parse(stored->text);
    changed.insert(GroupOf(state.crd));
  }
  for (const auto& [name, removed] : crds_) {
    changed.insert(GroupOf(removed.crd));
    if (!removed.served.is_null()) StopServing(removed.crd);
  }
  crds_ = std::move(crds);
  return changed;
}

// Updates the conditions of name conflicts, which depend on all CRDs in the same API group.
void CrdController::UpdateNamingConditions(const std::set<std::string>& groups) {
  for (const auto& [name, state] : crds_) {
    if (!groups.contains(GroupOf(state.crd)) || IsTerminating(state.crd)) continue;
    std::vector<json> others;
    for (const auto& [other, other_state] : crds_) {
      if (other != name && GroupOf(other_state.crd) == GroupOf(state.crd)) {
        others.push_back(other_state.crd);
      }
    }
    json updated = WithNamingConditions(state.crd, others, context_.Now());
    if (updated != state.crd) UpdateCrd(state, std::move(updated));
  }
}

void CrdController::UpdateServedVersions(CrdState& state) {
  if (!IsEstablished(state.crd)) return;
  json config = ServedConfigOf(state.crd);
  if (config == state.served) return;
  const std::string storage_resource = StorageResourceOf(state.crd);
  if (state.served.is_null() || state.served["uid"] != config["uid"]) {
    context_.store().Reset(storage_resource);
  }
  state.served = std::move(config);
  context_.SetServedVersions(storage_resource, ServedResources(state.crd));
  context_.store().NotifyListeners(storage_resource);
}

void CrdController::StopServing(const json& crd) {
  context_.SetServedVersions(StorageResourceOf(crd), {});
  context_.store().NotifyListeners(StorageResourceOf(crd));
}

// Deletes the objects of a terminating CRD. When there are none left, removes its finalizer.
void CrdController::DeleteInstances(const CrdState& state) {
  const std::string storage_resource = StorageResourceOf(state.crd);
  json crd = state.crd;
  if (!HasCleanupFinalizer(crd)) return;
  SetCondition(crd, "Terminating", "True", "InstanceDeletionInProgress",
               "CustomResource deletion is in progress", context_.Now());
  if (crd != state.crd && !UpdateCrd(state, crd)) return;
  collector_.DeleteAll(storage_resource, "", "");
  if (context_.store().List(storage_resource, "").objects.empty()) {
    RemoveCleanupFinalizer({"", storage_resource});
  }
}

void CrdController::RemoveCleanupFinalizer(const ObjectKey& key) {
  const StoredObjectPtr stored = context_.store().Get(kCrdStorageResource, key);
  if (stored == nullptr) return;
  const json crd = json::parse(stored->text);
  json updated = WithoutCleanupFinalizer(crd);
  if (!FinalizersOf(updated).empty()) {
    SetCondition(updated, "Terminating", "False", "InstanceDeletionCompleted",
                 "removed all instances", context_.Now());
    context_.store().Put(kCrdStorageResource, key, stored, updated, stored->attributes);
  } else if (context_.store().Remove(kCrdStorageResource, key, stored, crd) != nullptr) {
    collector_.ProcessWrite(
        *context_.catalog()->FindKind("apiextensions.k8s.io/v1", "CustomResourceDefinition"), key,
        crd, true);
  }
}

// Writes a CRD. Returns false if another write has changed it since the last ReloadCrds.
bool CrdController::UpdateCrd(const CrdState& state, json crd) {
  const FieldManager writer{"kube-apiserver", "apiextensions.k8s.io/v1", "status", context_.Now()};
  const ObjectKey key{"", StorageResourceOf(state.crd)};
  crd = UpdateManagedFields(state.crd, std::move(crd), CrdSchema(), writer);
  return context_.store().Put(kCrdStorageResource, key, state.stored, crd,
                              state.stored->attributes) != nullptr;
}

}  // namespace kopp::apiserver
