// What a control plane's garbage collector and namespace controller do, here at once and in the
// thread of the write that it follows from.
#include "metadata_rules.hpp"
#include "objects.hpp"
#include "status.hpp"
#include "writes.hpp"

#include <algorithm>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kOrphan = "orphan";
constexpr const char* kForeground = "foregroundDeletion";

bool HasFinalizer(const json& object, const char* name) {
  const std::vector<std::string> finalizers = FinalizersOf(object);
  return std::find(finalizers.begin(), finalizers.end(), name) != finalizers.end();
}

json OwnersOf(const json& object) {
  return object.at("metadata").value("ownerReferences", json::array());
}

}  // namespace

void Writes::Settle(const Resource& resource, const ObjectKey& key, const json& object, bool gone) {
  if (gone) {
    SettleDependents(object, true);
    SettleOwners(object);
    if (!key.ns.empty()) EndNamespace(key.ns);
    return;
  }
  if (!object.at("metadata").contains("deletionTimestamp")) return;
  if (resource.kept_as == "namespaces") {
    Empty(key.name);
    return EndNamespace(key.name);
  }
  const bool orphans = HasFinalizer(object, kOrphan);
  if (!orphans && !HasFinalizer(object, kForeground)) return;
  SettleDependents(object, false);
  const std::string uid = object["metadata"].value("uid", "");
  if (orphans || world_.store().DependentsOf(uid).empty()) {
    DropFinalizer(resource, key, orphans ? kOrphan : kForeground);
  }
}

// Those of an owner that is gone, or of one that leaves them or waits for them.
void Writes::SettleDependents(const json& owner, bool gone) {
  const std::string uid = owner.at("metadata").value("uid", "");
  const bool orphans = !gone && HasFinalizer(owner, kOrphan);
  const auto catalog = world_.catalog();
  for (const Place& place : world_.store().DependentsOf(uid)) {
    const Catalog::Entry resource = catalog->FindKept(place.resource);
    const StoredPtr stored = world_.store().Get(place.resource, place.key);
    if (resource == nullptr || stored == nullptr) continue;
    const bool has_others = stored->attributes.owners.size() > 1;
    if (orphans || has_others) {
      DropOwner(place, uid);
      continue;
    }
    bool dependent_gone = false;
    try {
      DeleteOne(*resource, place.key, {.propagation = gone ? "Background" : "Foreground"},
                dependent_gone);
    } catch (const Refusal&) {
      continue;  // it went by itself
    }
  }
}

// An owner that waits for its dependents may have waited for this one.
void Writes::SettleOwners(const json& object) {
  const std::string ns = object.at("metadata").value("namespace", "");
  const auto catalog = world_.catalog();
  for (const json& owner : OwnersOf(object)) {
    const auto resource = catalog->FindKind(owner.value("apiVersion", ""), owner.value("kind", ""));
    if (resource == nullptr) continue;
    const ObjectKey key{resource->namespaced ? ns : "", owner.value("name", "")};
    const StoredPtr stored = world_.store().Get(resource->kept_as, key);
    if (stored == nullptr) continue;
    const json found = json::parse(stored->text);
    if (found["metadata"].value("uid", "") != owner.value("uid", "")) continue;
    if (!HasFinalizer(found, kForeground)) continue;
    if (!world_.store().DependentsOf(owner.value("uid", "")).empty()) continue;
    DropFinalizer(*resource, key, kForeground);
  }
}

void Writes::Empty(const std::string& ns) {
  for (const Catalog::Entry& resource : world_.catalog()->all()) {
    if (!resource->namespaced) continue;
    for (const auto& [key, stored] : world_.store().List(resource->kept_as, ns).objects) {
      bool gone = false;
      try {
        DeleteOne(*resource, key, {.propagation = "Background"}, gone);
      } catch (const Refusal&) {
        continue;  // it went with another
      }
    }
  }
}

void Writes::EndNamespace(const std::string& ns) {
  const StoredPtr stored = world_.store().Get("namespaces", {"", ns});
  if (stored == nullptr) return;
  const json object = json::parse(stored->text);
  if (!object["metadata"].contains("deletionTimestamp")) return;
  for (const Catalog::Entry& resource : world_.catalog()->all()) {
    if (!resource->namespaced) continue;
    if (!world_.store().List(resource->kept_as, ns).objects.empty()) return;
  }
  Rewrite({"namespaces", {"", ns}}, [](json& found) {
    json& finalizers = found["spec"]["finalizers"];
    if (!finalizers.is_array()) return false;
    json kept = json::array();
    for (const json& name : finalizers) {
      if (name != "kubernetes") kept.push_back(name);
    }
    const bool changed = kept != finalizers;
    finalizers = std::move(kept);
    return changed;
  });
}

void Writes::DropOwner(const Place& place, const std::string& uid) {
  Rewrite(place, [&](json& object) {
    json kept = json::array();
    for (const json& owner : OwnersOf(object)) {
      if (owner.value("uid", "") != uid) kept.push_back(owner);
    }
    const bool changed = kept != OwnersOf(object);
    object["metadata"].erase("ownerReferences");
    if (!kept.empty()) object["metadata"]["ownerReferences"] = std::move(kept);
    return changed;
  });
}

void Writes::DropFinalizer(const Resource& resource, const ObjectKey& key, std::string_view name) {
  Rewrite({resource.kept_as, key}, [&](json& object) {
    std::vector<std::string> finalizers = FinalizersOf(object);
    const auto dropped = std::erase(finalizers, name);
    object["metadata"].erase("finalizers");
    if (!finalizers.empty()) object["metadata"]["finalizers"] = finalizers;
    return dropped > 0;
  });
}

// Without the rules for clients. An object that nothing keeps any more is gone then.
void Writes::Rewrite(const Place& place, const std::function<bool(json& object)>& change) {
  const Catalog::Entry resource = world_.catalog()->FindKept(place.resource);
  while (resource != nullptr) {
    const StoredPtr seen = world_.store().Get(place.resource, place.key);
    if (seen == nullptr) return;
    const json live = json::parse(seen->text);
    json object = live;
    if (!change(object)) return;
    const bool gone = object["metadata"].contains("deletionTimestamp") &&
                      FinalizersOf(object).empty() &&
                      object["metadata"].value("deletionGracePeriodSeconds", 0) == 0 &&
                      !KeepsNamespace(*resource, object);
    const StoredPtr stored = gone ? world_.store().Remove(place.resource, place.key, seen, live)
                                  : world_.store().Put(place.resource, place.key, seen, object,
                                                       AttributesOf(*resource, object));
    if (stored == nullptr) continue;
    return Settle(*resource, place.key, object, gone);
  }
}

}  // namespace kopp::apiserver
