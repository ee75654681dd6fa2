#include "writes.hpp"

#include "defaults.hpp"
#include "event_faces.hpp"
#include "metadata_rules.hpp"
#include "object_changes.hpp"
#include "objects.hpp"
#include "patch_body.hpp"
#include "said.hpp"
#include "status.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr int kMostNames = 8;  // are made up for one object before it is refused

bool SameBesideVersion(json a, json b) {
  a["metadata"].erase("resourceVersion");
  b["metadata"].erase("resourceVersion");
  return a == b;
}

bool IsBeingDeleted(const json& object) {
  return object.at("metadata").contains("deletionTimestamp");
}

Reply Answered(int status, const json& object, const Resource& resource) {
  return {.status = status, .body = Shown(object, resource).dump()};
}

void CheckPatchType(const std::string& type, const Resource& resource) {
  if (type == "application/merge-patch+json" || type == "application/json-patch+json" ||
      type == "application/apply-patch+yaml") {
    return;
  }
  constexpr const char* kReason = "UnsupportedMediaType";
  if (!resource.built_in) {
    throw Refusal(
        415, kReason,
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, "
        "application/apply-patch+yaml");
  }
  if (type == "application/strategic-merge-patch+json") {
    throw Refusal(415, kReason,
                  "this API server takes no strategic merge patches: patch with --type=merge or "
                  "--type=json, apply with --server-side");
  }
  throw Refusal(415, kReason, "415: Unsupported Media Type", json::object());
}

}  // namespace

Writer Writes::WriterOf(const Ask& ask, const Resource& resource) {
  const bool is_scale = ask.target.subresource == "scale";  // its entries have no time
  return {ask.manager(), resource.api_version(), ask.target.subresource,
          is_scale ? "" : world_.Now(), resource.Has("status")};
}

StoredPtr Writes::CheckNamespace(const Resource& resource, const std::string& ns,
                                 const std::string& name) {
  if (!resource.namespaced) return nullptr;
  StoredPtr stored = world_.store().Get("namespaces", {"", ns});
  if (stored == nullptr) {
    Resource namespaces;
    namespaces.plural = "namespaces";
    throw NotFound(namespaces, ns);
  }
  if (!IsBeingDeleted(json::parse(stored->text))) return stored;
  throw Forbidden(
      resource, name,
      "unable to create new content in namespace " + ns + " because it is being terminated",
      json::array({{{"reason", "NamespaceTerminating"},
                    {"message", "namespace " + ns + " is being terminated"},
                    {"field", "metadata.namespace"}}}));
}

Reply Writes::Create(const Ask& ask, const Resource& resource, Warnings& warnings) {
  CheckMediaType(ask);
  const WriteOptions options = ReadWriteOptions(ask, "CreateOptions");
  json object = ReadObject(ask, resource, options, warnings);
  CheckNamespaceOf(ask, resource, MetadataOf(object));
  object = CreateObject(ask, resource, std::move(object), options, warnings, How::kPut);
  return Answered(201, object, resource);
}

json Writes::CreateObject(const Ask& ask, const Resource& resource, json object,
                          const WriteOptions& options, Warnings& warnings, How how) {
  const KindRules& rules = RulesOf(resource);
  const ObjectKey key = KeyOfNew(ask, resource, MetadataOf(object));
  const StoredPtr ns = CheckNamespace(resource, key.ns, key.name);
  if (resource.terminating) {
    throw Forbidden(resource, key.name,
                    "create not allowed while custom resource definition is terminating");
  }
  const std::string version = SaidText(object["metadata"], "resourceVersion");
  Begin(resource, object, warnings);
  if (how != How::kApply) {
    object["metadata"].erase("managedFields");
    json blank = Blank(*resource.schema);
    if (resource.Has("status") && object.contains("status")) blank["status"] = object["status"];
    object = Updated(blank, std::move(object), *resource.schema, WriterOf(ask, resource));
  }
  if (rules.assign) rules.assign(world_, nullptr, object);

  Causes causes = MetadataProblems(object, rules.is_name);
  if (rules.check) rules.check(object, causes);
  if (!causes.empty()) throw Invalid(resource, key.name, causes);
  if (!version.empty() && version != "0" && how != How::kApply) {
    throw Refusal(500, "", "resourceVersion should not be set on objects to be created");
  }
  if (const StoredPtr there = world_.store().Get(resource.kept_as, key); there != nullptr) {
    throw AlreadyExists(resource, key.name, IsBeingDeleted(json::parse(there->text)));
  }
  return options.dry_run ? object : Keep(resource, key, std::move(object), ns);
}

ObjectKey Writes::KeyOfNew(const Ask& ask, const Resource& resource, json& metadata) {
  metadata.erase("namespace");
  if (resource.namespaced) metadata["namespace"] = ask.target.ns;
  const std::string prefix = SaidText(metadata, "generateName");
  const auto key = [&] { return ObjectKey{ask.target.ns, SaidText(metadata, "name")}; };
  if (!SaidText(metadata, "name").empty() || prefix.empty()) return key();
  for (int tries = 0; tries < kMostNames; ++tries) {
    metadata["name"] = world_.NewName(prefix);
    if (world_.store().Get(resource.kept_as, key()) == nullptr) break;
  }
  return key();
}

void Writes::Begin(const Resource& resource, json& object, Warnings& warnings) {
  const KindRules& rules = RulesOf(resource);
  json& metadata = object["metadata"];
  for (const char* field :
       {"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    metadata.erase(field);
  }
  metadata["uid"] = world_.NewUid();
  metadata["creationTimestamp"] = world_.Now();
  if (rules.generation != KindRules::Generation::kNone) metadata["generation"] = 1;
  if (resource.Has("status") && !rules.takes_status_on_create) {
    object.erase("status");
    object.update(StatusSkeleton(resource));
  }
  if (rules.complete) rules.complete(object);
  if (const std::string warning = KeepEachOwnerOnce(object); !warning.empty()) {
    warnings.push_back(warning);
  }
}

json Writes::Keep(const Resource& resource, const ObjectKey& key, json object,
                  const StoredPtr& ns) {
  object = ToKept(resource, std::move(object));
  const Attributes attributes = AttributesOf(resource, object);
  const StoredPtr stored =
      world_.store().Put(resource.kept_as, key, nullptr, std::move(object), attributes);
  if (stored == nullptr) throw AlreadyExists(resource, key.name, false);
  object = ReadKept(stored->text, resource);
  collector_.Follow(resource, key, object, false);
  if (world_.store().Get("namespaces", {"", key.ns}) != ns) collector_.FollowInto(key.ns);
  return object;
}

Reply Writes::Update(const Ask& ask, const Resource& resource, Warnings& warnings) {
  CheckMediaType(ask);
  if (ask.target.subresource == "scale") return WriteScale(ask, resource, warnings);
  const WriteOptions options = ReadWriteOptions(ask, "UpdateOptions");
  json object = ReadObject(ask, resource, options, warnings);
  CheckNames(ask, resource, MetadataOf(object));
  if (RulesOf(resource).created_by_update && ask.target.subresource.empty() &&
      world_.store().Get(resource.kept_as, {ask.target.ns, ask.target.name}) == nullptr) {
    object = CreateObject(ask, resource, std::move(object), options, warnings, How::kPut);
    return Answered(201, object, resource);
  }
  const Edit edit{ask, resource, options, How::kPut, [&](const json&) { return object; }};
  object = Change(edit, warnings);
  return Answered(200, object, resource);
}

Reply Writes::Patch(const Ask& ask, const Resource& resource, Warnings& warnings) {
  const std::string type = ask.content_type.substr(0, ask.content_type.find(';'));
  CheckPatchType(type, resource);
  if (type == "application/apply-patch+yaml") return Apply(ask, resource, warnings);
  if (ask.target.subresource == "scale") return WriteScale(ask, resource, warnings);
  const WriteOptions options = ReadWriteOptions(ask, "PatchOptions");
  RefuseForce(ask);
  const Edit edit{ask, resource, options, How::kPatch, [&](const json& live) {
                    const json patch = ReadPatch(ask);
                    for (std::string& problem : PatchProblems(ask, resource, options)) {
                      warnings.push_back(std::move(problem));
                    }
                    json object = ReadPatched(Patched(patch, Shown(live, resource)), resource,
                                              options, warnings);
                    CheckNames(ask, resource, MetadataOf(object));
                    return object;
                  }};
  const json object = Change(edit, warnings);
  return Answered(200, object, resource);
}

json Writes::Change(const Edit& edit, Warnings& warnings) {
  const Resource& resource = edit.resource;
  const ObjectKey key{edit.ask.target.ns, edit.ask.target.name};
  for (const Warnings said = warnings;; warnings = said) {
    const StoredPtr seen = world_.store().Get(resource.kept_as, key);
    if (seen == nullptr) throw NotFound(resource, key.name);
    json live = ReadKept(seen->text, resource);
    json object = Edited(edit, live, warnings);
    if (SameBesideVersion(object, live)) return live;
    if (edit.options.dry_run) return object;
    if (IsAtItsEnd(resource, object)) {
      if (world_.store().Remove(resource.kept_as, key, seen, ToKept(resource, live)) == nullptr) {
        continue;
      }
      collector_.Follow(resource, key, object, true);
      return object;
    }
    object = ToKept(resource, std::move(object));
    const Attributes attributes = AttributesOf(resource, object);
    const StoredPtr stored =
        world_.store().Put(resource.kept_as, key, seen, std::move(object), attributes);
    if (stored == nullptr) continue;
    object = ReadKept(stored->text, resource);
    collector_.Follow(resource, key, object, false);
    return object;
  }
}

// What `live` is to become.
json Writes::Edited(const Edit& edit, const json& live, Warnings& warnings) {
  const Resource& resource = edit.resource;
  const std::string& subresource = edit.ask.target.subresource;
  const KindRules& rules = RulesOf(resource);
  json object = edit.next(live);
  CheckState(resource, edit.how == How::kPut, live.at("metadata"), MetadataOf(object));
  KeepTheRest(resource, subresource, live, object);
  if (rules.complete) rules.complete(object);
  if (rules.assign && subresource.empty()) rules.assign(world_, live, object);
  if (const std::string warning = KeepEachOwnerOnce(object); !warning.empty()) {
    warnings.push_back(warning);
  }
  if (RaisesGeneration(resource, live, object)) {
    object["metadata"]["generation"] = live.at("metadata").value("generation", 0) + 1;
  }
  Causes causes = MetadataChangeProblems(live, object);
  const auto& check = subresource == "status" ? rules.check_status : rules.check;
  if (check) check(object, causes);
  if (rules.check_change) rules.check_change(live, object, causes);
  if (!causes.empty()) throw Invalid(resource, edit.ask.target.name, causes);
  if (edit.how == How::kApply) return object;
  return Updated(live, std::move(object), *resource.schema, WriterOf(edit.ask, resource));
}

}  // namespace kopp::apiserver
