#include "controllers/garbage_collector.hpp"

#include "api/status.hpp"
#include "controllers/deletion.hpp"
#include "controllers/owner_events.hpp"
#include "schema/finalizers.hpp"
#include "storage/object_attributes.hpp"
#include "storage/stored_objects.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

bool HasFinalizer(const json& metadata, const char* finalizer) {
  const json finalizers = metadata.value("finalizers", json::array());
  return std::find(finalizers.begin(), finalizers.end(), finalizer) != finalizers.end();
}

json OwnerReferencesOf(const json& metadata) {
  return metadata.value("ownerReferences", json::array());
}

std::string UidOf(const json& metadata) { return metadata.value("uid", ""); }

/// The resource and key that an owner reference refers to. The object may not exist.
struct Owner {
  ResourcePtr resource{};  // nullptr if the server does not serve the kind
  ObjectKey key{};
};

Owner ResolveOwner(const json& reference, const std::string& ns, const Catalog& catalog) {
  const auto resource =
      catalog.FindKind(reference.value("apiVersion", ""), reference.value("kind", ""));
  if (resource == nullptr) return {};
  return {resource, {resource->namespaced ? ns : "", reference.value("name", "")}};
}

}  // namespace

json GarbageCollector::Delete(const Resource& resource, const ObjectKey& key,
                              const DeleteOptions& options, bool& removed, const Review& review) {
  Worklist worklist;
  json object = DeleteOrMark(resource, key, options, removed, worklist, review);
  ProcessWorklist(std::move(worklist));
  return object;
}

void GarbageCollector::ProcessWrite(const Resource& resource, const ObjectKey& key,
                                    const json& object, bool removed) {
  ProcessWorklist({{{resource.storage_resource, key}, object.at("metadata"), removed}});
}

void GarbageCollector::ProcessNamespace(const std::string& ns) {
  if (!IsNamespaceTerminating(ns)) return;
  DeleteNamespaceContents(ns);
  Worklist worklist;
  FinalizeNamespace(ns, worklist);
  ProcessWorklist(std::move(worklist));
}

void GarbageCollector::ProcessWorklist(Worklist worklist) {
  for (; !worklist.empty(); worklist.pop_front()) ProcessChange(worklist.front(), worklist);
}

void GarbageCollector::ProcessChange(const WrittenObject& written, Worklist& worklist) {
  const auto& [location, metadata, removed] = written;
  if (removed) return ProcessRemoval(written, worklist);
  if (!metadata.contains("deletionTimestamp")) return RemoveAbsentOwners(written, worklist);
  if (location.resource == "namespaces") {
    DeleteNamespaceContents(location.key.name);
    return FinalizeNamespace(location.key.name, worklist);
  }
  const bool orphans = HasFinalizer(metadata, kOrphanFinalizer);
  if (!orphans && !HasFinalizer(metadata, kForegroundFinalizer)) return;
  ProcessDependents(metadata, orphans ? "Orphan" : "Foreground", worklist);
  if (orphans || !context_.store().HasBlockingDependents(UidOf(metadata))) {
    RemoveFinalizer(location, orphans ? kOrphanFinalizer : kForegroundFinalizer, worklist);
  }
}

void GarbageCollector::ProcessRemoval(const WrittenObject& written, Worklist& worklist) {
  ProcessDependents(written.metadata, "Background", worklist);
  UnblockOwners(written, worklist);
  const std::string& ns = written.location.key.ns;
  if (!ns.empty() && IsNamespaceTerminating(ns)) FinalizeNamespace(ns, worklist);
}

void GarbageCollector::ProcessDependents(const json& owner, const std::string& propagation,
                                         Worklist& worklist) {
  const std::string uid = UidOf(owner);
  for (const ObjectLocation& location : context_.store().DependentsOf(uid)) {
    const StoredObjectPtr stored = context_.store().Get(location.resource, location.key);
    if (stored == nullptr) continue;
    if (propagation == "Orphan" || stored->attributes.owner_uids.size() > 1) {
      RemoveOwnerReference(location, uid, worklist);
    } else {
      DeleteIfExists(location, propagation, worklist);
    }
  }
}

// Completes the foreground deletion of owners that waited only for this dependent.
void GarbageCollector::UnblockOwners(const WrittenObject& written, Worklist& worklist) {
  const auto catalog = context_.catalog();
  for (const json& reference : OwnerReferencesOf(written.metadata)) {
    const auto [resource, key] = ResolveOwner(reference, written.location.key.ns, *catalog);
    if (resource == nullptr) continue;
    const StoredObjectPtr stored = context_.store().Get(resource->storage_resource, key);
    const std::string uid = UidOf(reference);
    if (stored == nullptr || stored->attributes.uid != uid) continue;
    if (!stored->attributes.foreground_deletion || context_.store().HasBlockingDependents(uid))
      continue;
    RemoveFinalizer({resource->storage_resource, key}, kForegroundFinalizer, worklist);
  }
}

// Removes references to owners that do not exist or are being deleted in the foreground. Deletes
// the object if no other owner is left.
void GarbageCollector::RemoveAbsentOwners(const WrittenObject& written, Worklist& worklist) {
  const auto& [location, metadata, removed] = written;
  const json references = OwnerReferencesOf(metadata);
  const auto catalog = context_.catalog();
  std::vector<std::string> absent;
  for (const json& reference : references) {
    const auto [resource, key] = ResolveOwner(reference, location.key.ns, *catalog);
    const bool can_resolve = resource != nullptr && (!resource->namespaced || !key.ns.empty());
    if (!can_resolve) continue;
    const StoredObjectPtr stored = context_.store().Get(resource->storage_resource, key);
    if (stored == nullptr || stored->attributes.uid != UidOf(reference) ||
        stored->attributes.foreground_deletion) {
      absent.push_back(UidOf(reference));
      if (stored == nullptr)
        ReportOwnerInOtherNamespace(context_, location, metadata, reference, *resource);
    }
  }
  if (!absent.empty() && absent.size() == references.size()) {
    return DeleteIfExists(location, "Background", worklist);
  }
  for (const std::string& uid : absent) RemoveOwnerReference(location, uid, worklist);
}

bool GarbageCollector::IsNamespaceTerminating(const std::string& ns) {
  const StoredObjectPtr stored = context_.store().Get("namespaces", {"", ns});
  return stored == nullptr ||
         json::parse(stored->text).at("metadata").contains("deletionTimestamp");
}

void GarbageCollector::DeleteNamespaceContents(const std::string& ns) {
  for (const ResourcePtr& resource : context_.catalog()->all()) {
    if (resource->namespaced) DeleteAll(resource->storage_resource, ns, "Background");
  }
}

void GarbageCollector::DeleteAll(const std::string& storage_resource, const std::string& ns,
                                 const std::string& propagation) {
  for (const auto& [key, stored] : context_.store().List(storage_resource, ns).objects) {
    Worklist worklist;  // one per object, to limit its size
    DeleteIfExists({storage_resource, key}, propagation, worklist);
    ProcessWorklist(std::move(worklist));
  }
}

void GarbageCollector::FinalizeNamespace(const std::string& ns, Worklist& worklist) {
  for (const ResourcePtr& resource : context_.catalog()->all()) {
    if (resource->namespaced && context_.store().HasObjects(resource->storage_resource, ns)) return;
  }
  const auto remove = [](json& object) {
    json& finalizers = object["spec"]["finalizers"];
    const json before = finalizers;
    if (finalizers.is_array()) std::erase(finalizers.get_ref<json::array_t&>(), "kubernetes");
    return finalizers != before;
  };
  UpdateObject({"namespaces", {"", ns}}, remove, worklist);
}

json GarbageCollector::DeleteOrMark(const Resource& resource, const ObjectKey& key,
                                    const DeleteOptions& options, bool& removed, Worklist& worklist,
                                    const Review& review) {
  for (;;) {
    const StoredObjectPtr seen = context_.store().Get(resource.storage_resource, key);
    if (seen == nullptr) throw NotFound(resource, key.name);
    const json live = json::parse(seen->text);
    CheckPreconditions(resource, key.name, live.at("metadata"), options);
    if (review && !IsDeletionPending(resource, live, options)) review(*seen);
    json object = MarkForDeletion(context_, resource, live, options);
    removed = IsReadyForRemoval(resource, object);
    if (options.dry_run || (!removed && object == live)) return object;
    if (removed) {
      if (context_.store().Remove(resource.storage_resource, key, seen, live) == nullptr) continue;
    } else if (context_.store().Put(resource.storage_resource, key, seen, object,
                                    ObjectAttributesOf(resource, object)) == nullptr) {
      continue;
    }
    worklist.push_back({{resource.storage_resource, key}, object["metadata"], removed});
    return object;
  }
}

void GarbageCollector::DeleteIfExists(const ObjectLocation& location,
                                      const std::string& propagation, Worklist& worklist) {
  const ResourcePtr resource = context_.catalog()->FindByStorageResource(location.resource);
  if (resource == nullptr) return;
  bool removed = false;
  try {
    // The grace period is 0, because there is no kubelet that stops Pods.
    DeleteOrMark(*resource, location.key, {.propagation = propagation, .grace_period = 0}, removed,
                 worklist);
  } catch (const StatusError&) {
    return;  // the object is already removed
  }
}

void GarbageCollector::RemoveOwnerReference(const ObjectLocation& location, const std::string& uid,
                                            Worklist& worklist) {
  const auto remove = [&](json& object) {
    json& metadata = object["metadata"];
    json kept = json::array();
    for (const json& owner : OwnerReferencesOf(metadata)) {
      if (UidOf(owner) != uid) kept.push_back(owner);
    }
    const bool changed = kept != OwnerReferencesOf(metadata);
    metadata.erase("ownerReferences");
    if (!kept.empty()) metadata["ownerReferences"] = std::move(kept);
    return changed;
  };
  UpdateObject(location, remove, worklist);
}

void GarbageCollector::RemoveFinalizer(const ObjectLocation& location, std::string_view name,
                                       Worklist& worklist) {
  const auto remove = [&](json& object) {
    std::vector<std::string> finalizers = FinalizersOf(object);
    const auto dropped = std::erase(finalizers, name);
    object["metadata"].erase("finalizers");
    if (!finalizers.empty()) object["metadata"]["finalizers"] = finalizers;
    return dropped > 0;
  };
  UpdateObject(location, remove, worklist);
}

// Updates an object without validation; retries on conflicts. Removes it if the update made it
// ready for removal.
void GarbageCollector::UpdateObject(const ObjectLocation& location,
                                    const std::function<bool(json& object)>& update,
                                    Worklist& worklist) {
  const ResourcePtr resource = context_.catalog()->FindByStorageResource(location.resource);
  while (resource != nullptr) {
    const StoredObjectPtr seen = context_.store().Get(location.resource, location.key);
    if (seen == nullptr) return;
    const json live = json::parse(seen->text);
    json object = live;
    if (!update(object)) return;
    const bool removed = IsReadyForRemoval(*resource, object);
    const StoredObjectPtr stored =
        removed ? context_.store().Remove(location.resource, location.key, seen, live)
                : context_.store().Put(location.resource, location.key, seen, object,
                                       ObjectAttributesOf(*resource, object));
    if (stored == nullptr) continue;
    worklist.push_back({location, std::move(object["metadata"]), removed});
    return;
  }
}

}  // namespace kopp::apiserver
