#include "collector.hpp"

#include "deletion.hpp"
#include "metadata_rules.hpp"
#include "objects.hpp"
#include "status.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

bool Has(const json& metadata, const char* finalizer) {
  const json finalizers = metadata.value("finalizers", json::array());
  return std::find(finalizers.begin(), finalizers.end(), finalizer) != finalizers.end();
}

json OwnersIn(const json& metadata) { return metadata.value("ownerReferences", json::array()); }

std::string UidOf(const json& metadata) { return metadata.value("uid", ""); }

/// What an owner is served as, and where it would be.
struct Owner {
  Catalog::Entry resource{};  // nullptr: nobody serves its kind
  ObjectKey key{};
};

Owner OwnerBy(const json& reference, const std::string& ns, const Catalog& catalog) {
  const auto resource =
      catalog.FindKind(reference.value("apiVersion", ""), reference.value("kind", ""));
  if (resource == nullptr) return {};
  return {resource, {resource->namespaced ? ns : "", reference.value("name", "")}};
}

}  // namespace

json Collector::Delete(const Resource& resource, const ObjectKey& key, const DeleteOptions& options,
                       bool& gone) {
  Open open;
  json object = DeleteOne(resource, key, options, gone, open);
  FollowAll(std::move(open));
  return object;
}

void Collector::Follow(const Resource& resource, const ObjectKey& key, const json& object,
                       bool gone) {
  FollowAll({{{resource.kept_as, key}, object.at("metadata"), gone}});
}

void Collector::FollowInto(const std::string& ns) {
  if (!IsEnding(ns)) return;
  Empty(ns);
  Open open;
  End(ns, open);
  FollowAll(std::move(open));
}

void Collector::FollowAll(Open open) {
  for (; !open.empty(); open.pop_front()) FollowOne(open.front(), open);
}

void Collector::FollowOne(const Written& written, Open& open) {
  const auto& [place, metadata, gone] = written;
  if (gone) return FollowRemoval(written, open);
  if (!metadata.contains("deletionTimestamp")) return LeaveAbsentOwners(written, open);
  if (place.resource == "namespaces") {
    Empty(place.key.name);
    return End(place.key.name, open);
  }
  const bool orphans = Has(metadata, kOrphan);
  if (!orphans && !Has(metadata, kForeground)) return;
  ReleaseDependents(metadata, orphans ? "Orphan" : "Foreground", open);
  if (orphans || !world_.store().IsHeldUp(UidOf(metadata))) {
    DropFinalizer(place, orphans ? kOrphan : kForeground, open);
  }
}

void Collector::FollowRemoval(const Written& written, Open& open) {
  ReleaseDependents(written.metadata, "Background", open);
  ReleaseOwners(written, open);
  const std::string& ns = written.place.key.ns;
  if (!ns.empty() && IsEnding(ns)) End(ns, open);
}

void Collector::ReleaseDependents(const json& owner, const std::string& propagation, Open& open) {
  const std::string uid = UidOf(owner);
  for (const Place& place : world_.store().DependentsOf(uid)) {
    const StoredPtr stored = world_.store().Get(place.resource, place.key);
    if (stored == nullptr) continue;
    if (propagation == "Orphan" || stored->attributes.owners.size() > 1) {
      DropOwner(place, uid, open);
    } else {
      Discard(place, propagation, open);
    }
  }
}

// An owner that waits for its dependents may have waited for this one.
void Collector::ReleaseOwners(const Written& written, Open& open) {
  const auto catalog = world_.catalog();
  for (const json& reference : OwnersIn(written.metadata)) {
    const auto [resource, key] = OwnerBy(reference, written.place.key.ns, *catalog);
    if (resource == nullptr) continue;
    const StoredPtr stored = world_.store().Get(resource->kept_as, key);
    const std::string uid = UidOf(reference);
    if (stored == nullptr || stored->attributes.uid != uid) continue;
    if (!stored->attributes.awaits_dependents || world_.store().IsHeldUp(uid)) continue;
    DropFinalizer({resource->kept_as, key}, kForeground, open);
  }
}

// Where no owner is there any more, or all that are wait for the end of what they own, nothing is
// left to stay for.
void Collector::LeaveAbsentOwners(const Written& written, Open& open) {
  const auto& [place, metadata, gone] = written;
  const json references = OwnersIn(metadata);
  const auto catalog = world_.catalog();
  std::vector<std::string> absent;
  for (const json& reference : references) {
    const auto [resource, key] = OwnerBy(reference, place.key.ns, *catalog);
    const bool can_tell = resource != nullptr && (!resource->namespaced || !key.ns.empty());
    if (!can_tell) continue;
    const StoredPtr stored = world_.store().Get(resource->kept_as, key);
    if (stored == nullptr || stored->attributes.uid != UidOf(reference) ||
        stored->attributes.awaits_dependents) {
      absent.push_back(UidOf(reference));
    }
  }
  if (!absent.empty() && absent.size() == references.size()) {
    return Discard(place, "Background", open);
  }
  for (const std::string& uid : absent) DropOwner(place, uid, open);
}

bool Collector::IsEnding(const std::string& ns) {
  const StoredPtr stored = world_.store().Get("namespaces", {"", ns});
  return stored == nullptr ||
         json::parse(stored->text).at("metadata").contains("deletionTimestamp");
}

void Collector::Empty(const std::string& ns) {
  for (const Catalog::Entry& resource : world_.catalog()->all()) {
    if (!resource->namespaced) continue;
    for (const auto& [key, stored] : world_.store().List(resource->kept_as, ns).objects) {
      Open open;  // of each its own: there may be many
      Discard({resource->kept_as, key}, "Background", open);
      FollowAll(std::move(open));
    }
  }
}

void Collector::End(const std::string& ns, Open& open) {
  for (const Catalog::Entry& resource : world_.catalog()->all()) {
    if (resource->namespaced && world_.store().HasObjects(resource->kept_as, ns)) return;
  }
  const auto drop = [](json& object) {
    json& finalizers = object["spec"]["finalizers"];
    const json before = finalizers;
    if (finalizers.is_array()) std::erase(finalizers.get_ref<json::array_t&>(), "kubernetes");
    return finalizers != before;
  };
  Rewrite({"namespaces", {"", ns}}, drop, open);
}

json Collector::DeleteOne(const Resource& resource, const ObjectKey& key,
                          const DeleteOptions& options, bool& gone, Open& open) {
  for (;;) {
    const StoredPtr seen = world_.store().Get(resource.kept_as, key);
    if (seen == nullptr) throw NotFound(resource, key.name);
    const json live = json::parse(seen->text);
    CheckPreconditions(resource, key.name, live.at("metadata"), options);
    json object = Marked(world_, resource, live, options);
    gone = IsAtItsEnd(resource, object);
    if (options.dry_run || (!gone && object == live)) return object;
    if (gone) {
      if (world_.store().Remove(resource.kept_as, key, seen, live) == nullptr) continue;
    } else {
      const StoredPtr stored =
          world_.store().Put(resource.kept_as, key, seen, object, AttributesOf(resource, object));
      if (stored == nullptr) continue;
      object = json::parse(stored->text);
    }
    open.push_back({{resource.kept_as, key}, object["metadata"], gone});
    return object;
  }
}

void Collector::Discard(const Place& place, const std::string& propagation, Open& open) {
  const Catalog::Entry resource = world_.catalog()->FindKept(place.resource);
  if (resource == nullptr) return;
  bool gone = false;
  try {
    // No kubelet is there to end a Pod within its grace.
    DeleteOne(*resource, place.key, {.propagation = propagation, .grace_period = 0}, gone, open);
  } catch (const Refusal&) {
    return;  // it went by itself
  }
}

void Collector::DropOwner(const Place& place, const std::string& uid, Open& open) {
  const auto drop = [&](json& object) {
    json& metadata = object["metadata"];
    json kept = json::array();
    for (const json& owner : OwnersIn(metadata)) {
      if (UidOf(owner) != uid) kept.push_back(owner);
    }
    const bool changed = kept != OwnersIn(metadata);
    metadata.erase("ownerReferences");
    if (!kept.empty()) metadata["ownerReferences"] = std::move(kept);
    return changed;
  };
  Rewrite(place, drop, open);
}

void Collector::DropFinalizer(const Place& place, std::string_view name, Open& open) {
  const auto drop = [&](json& object) {
    std::vector<std::string> finalizers = FinalizersOf(object);
    const auto dropped = std::erase(finalizers, name);
    object["metadata"].erase("finalizers");
    if (!finalizers.empty()) object["metadata"]["finalizers"] = finalizers;
    return dropped > 0;
  };
  Rewrite(place, drop, open);
}

// Without the rules for clients. An object that nothing keeps any more is gone then.
void Collector::Rewrite(const Place& place, const std::function<bool(json& object)>& change,
                        Open& open) {
  const Catalog::Entry resource = world_.catalog()->FindKept(place.resource);
  while (resource != nullptr) {
    const StoredPtr seen = world_.store().Get(place.resource, place.key);
    if (seen == nullptr) return;
    const json live = json::parse(seen->text);
    json object = live;
    if (!change(object)) return;
    const bool gone = IsAtItsEnd(*resource, object);
    const StoredPtr stored = gone ? world_.store().Remove(place.resource, place.key, seen, live)
                                  : world_.store().Put(place.resource, place.key, seen, object,
                                                       AttributesOf(*resource, object));
    if (stored == nullptr) continue;
    open.push_back({place, std::move(object["metadata"]), gone});
    return;
  }
}

}  // namespace kopp::apiserver
