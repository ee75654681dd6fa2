#include "writes.hpp"

#include "defaults.hpp"
#include "event_faces.hpp"
#include "json_patch.hpp"
#include "metadata_rules.hpp"
#include "objects.hpp"
#include "status.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

std::string Text(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

json& MetadataOf(json& object) {
  json& metadata = object["metadata"];
  if (metadata.is_null()) metadata = json::object();
  return metadata;
}

/// `to` gets `from`'s field, or loses it.
void Take(json& to, const json& from, const char* name) {
  const auto found = from.find(name);
  if (found == from.end()) {
    to.erase(name);
  } else {
    to[name] = *found;
  }
}

/// All but metadata and status.
json SpecOf(json object) {
  object.erase("metadata");
  object.erase("status");
  return object;
}

bool SameBesideVersion(json a, json b) {
  a["metadata"].erase("resourceVersion");
  b["metadata"].erase("resourceVersion");
  return a == b;
}

bool IsBeingDeleted(const json& object) {
  return object.at("metadata").contains("deletionTimestamp");
}

/// A body names the object and the namespace of the path; of a new object it may leave them out.
void CheckNames(const Ask& ask, const Resource& resource, const json& metadata) {
  const std::string name = Text(metadata, "name");
  if (name.empty()) {
    throw BadRequest("the name of the object (" + ask.target.name +
                     " based on URL) was undeterminable: name must be provided");
  }
  if (name != ask.target.name) {
    throw BadRequest("the name of the object (" + name + ") does not match the name on the URL (" +
                     ask.target.name + ')');
  }
  const std::string ns = Text(metadata, "namespace");
  if (resource.namespaced && !ns.empty() && ns != ask.target.ns) {
    throw BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
}

/// Whether what the writer saw is what is there.
void CheckState(const Resource& resource, bool is_put, const json& was, const json& metadata) {
  const std::string name = Text(was, "name");
  const std::string uid = Text(metadata, "uid");
  if (is_put && !uid.empty() && uid != Text(was, "uid")) {
    throw Conflict(resource, name,
                   "Precondition failed: UID in precondition: " + uid +
                       ", UID in object meta: " + Text(was, "uid"));
  }
  const std::string version = Text(metadata, "resourceVersion");
  if (version.empty() || version == "0") {
    if (RulesOf(resource).wins_unconditionally) return;
    Resource named = resource;
    named.kind = resource.plural;  // so this one message has it
    throw Invalid(named, name,
                  {InvalidValue("metadata.resourceVersion", 0, "must be specified for an update")});
  }
  if (version.find_first_not_of("0123456789") != std::string::npos) {
    throw Refusal(500, "", "strconv.ParseUint: parsing \"" + version + "\": invalid syntax");
  }
  if (version != Text(was, "resourceVersion")) throw Modified(resource, name);
}

/// What no client changes stays as it was, and what the subresource is not about.
void KeepTheRest(const Resource& resource, const std::string& subresource, const json& live,
                 json& object) {
  const json& was = live.at("metadata");
  json& metadata = MetadataOf(object);
  for (const char* field :
       {"name", "namespace", "creationTimestamp", "generation", "resourceVersion"}) {
    Take(metadata, was, field);
  }
  metadata.erase("selfLink");
  for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds"}) {
    if (!metadata.contains(field) || was.contains(field)) Take(metadata, was, field);
  }
  if (!metadata.contains("uid")) Take(metadata, was, "uid");
  if (subresource == "status") {
    json status = live;
    if (resource.built_in) {
      status["metadata"] = metadata;
      Take(status["metadata"], was, "labels");
    } else {
      Take(status["metadata"], metadata, "managedFields");
    }
    Take(status, object, "status");
    if (!status.contains("status")) status.update(StatusSkeleton(resource));
    object = std::move(status);
  } else if (resource.Has("status")) {
    Take(object, live, "status");
  }
}

bool RaisesGeneration(const Resource& resource, const json& live, const json& object) {
  const auto rule = RulesOf(resource).generation;
  if (rule == KindRules::Generation::kNone) return false;
  if (rule == KindRules::Generation::kSpecAndStatus &&
      live.value("status", json()) != object.value("status", json())) {
    return true;
  }
  if (SpecOf(object) != SpecOf(live)) return true;
  return rule == KindRules::Generation::kSpecOrAnnotations &&
         object.at("metadata").value("annotations", json()) !=
             live.at("metadata").value("annotations", json());
}

Reply Answered(int status, const json& object, const Resource& resource,
               std::vector<std::string> warnings) {
  Reply reply{.status = status, .body = Shown(object, resource).dump()};
  reply.warnings = std::move(warnings);
  return reply;
}

json Patched(const json& patch, const json& object) {
  if (patch.is_object()) {
    json patched = object;
    patched.merge_patch(patch);
    return patched;
  }
  try {
    return JsonPatched(object, patch);
  } catch (const std::invalid_argument&) {
    throw Refusal(422, "Invalid", "the server rejected our request due to an error in our request",
                  json::object());
  }
}

}  // namespace

Writer Writes::WriterOf(const Ask& ask, const Resource& resource) {
  const bool is_scale = ask.target.subresource == "scale";  // its entries have no time
  return {ask.manager(), resource.api_version(), ask.target.subresource,
          is_scale ? "" : world_.Now()};
}

void Writes::CheckNamespace(const Resource& resource, const std::string& ns,
                            const std::string& name) {
  if (!resource.namespaced) return;
  const StoredPtr stored = world_.store().Get("namespaces", {"", ns});
  if (stored == nullptr) {
    Resource namespaces;
    namespaces.plural = "namespaces";
    throw NotFound(namespaces, ns);
  }
  if (!IsBeingDeleted(json::parse(stored->text))) return;
  throw Forbidden(
      resource, name,
      "unable to create new content in namespace " + ns + " because it is being terminated",
      json::array({{{"reason", "NamespaceTerminating"},
                    {"message", "namespace " + ns + " is being terminated"},
                    {"field", "metadata.namespace"}}}));
}

Reply Writes::Create(const Ask& ask, const Resource& resource) {
  CheckMediaType(ask);
  const WriteOptions options = ReadWriteOptions(ask, "CreateOptions");
  std::vector<std::string> warnings;
  json object = ReadObject(ask, resource, options, warnings);
  const std::string ns = Text(MetadataOf(object), "namespace");
  if (resource.namespaced && !ns.empty() && ns != ask.target.ns) {
    throw BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  object = CreateObject(ask, resource, std::move(object), options, warnings, How::kPut);
  return Answered(201, object, resource, std::move(warnings));
}

json Writes::CreateObject(const Ask& ask, const Resource& resource, json object,
                          const WriteOptions& options, std::vector<std::string>& warnings,
                          How how) {
  const KindRules& rules = RulesOf(resource);
  const ObjectKey key = [&] {
    json& metadata = MetadataOf(object);
    metadata.erase("namespace");
    if (resource.namespaced) metadata["namespace"] = ask.target.ns;
    const std::string prefix = Text(metadata, "generateName");
    if (Text(metadata, "name").empty() && !prefix.empty()) {
      metadata["name"] = world_.NewName(prefix);
    }
    return ObjectKey{ask.target.ns, Text(metadata, "name")};
  }();
  CheckNamespace(resource, key.ns, key.name);
  if (resource.terminating) {
    throw Forbidden(resource, key.name,
                    "create not allowed while custom resource definition is terminating");
  }
  json& metadata = MetadataOf(object);
  const std::string version = Text(metadata, "resourceVersion");
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
  if (how != How::kApply) {
    MetadataOf(object).erase("managedFields");
    object = Updated(Blank(*resource.schema), std::move(object), *resource.schema,
                     WriterOf(ask, resource));
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
  if (options.dry_run) return object;
  object = ToKept(resource, std::move(object));
  const Attributes attributes = AttributesOf(resource, object);
  const StoredPtr stored =
      world_.store().Put(resource.kept_as, key, nullptr, std::move(object), attributes);
  if (stored == nullptr) throw AlreadyExists(resource, key.name, false);
  return ReadKept(stored->text, resource);
}

Reply Writes::Update(const Ask& ask, const Resource& resource) {
  CheckMediaType(ask);
  if (ask.target.subresource == "scale") return WriteScale(ask, resource);
  const WriteOptions options = ReadWriteOptions(ask, "UpdateOptions");
  std::vector<std::string> warnings;
  json object = ReadObject(ask, resource, options, warnings);
  CheckNames(ask, resource, MetadataOf(object));
  if (RulesOf(resource).created_by_update && ask.target.subresource.empty() &&
      world_.store().Get(resource.kept_as, {ask.target.ns, ask.target.name}) == nullptr) {
    object = CreateObject(ask, resource, std::move(object), options, warnings, How::kPut);
    return Answered(201, object, resource, std::move(warnings));
  }
  const Edit edit{ask, resource, options, How::kPut, [&](const json&) { return object; }};
  object = Change(edit, warnings);
  return Answered(200, object, resource, std::move(warnings));
}

Reply Writes::Patch(const Ask& ask, const Resource& resource) {
  const std::string type = ask.content_type.substr(0, ask.content_type.find(';'));
  if (type != "application/merge-patch+json" && type != "application/json-patch+json" &&
      type != "application/apply-patch+yaml") {
    throw Refusal(415, "UnsupportedMediaType", "415: Unsupported Media Type", json::object());
  }
  if (type == "application/apply-patch+yaml") return Apply(ask, resource);
  if (ask.target.subresource == "scale") return WriteScale(ask, resource);
  const WriteOptions options = ReadWriteOptions(ask, "PatchOptions");
  RefuseForce(ask);
  std::vector<std::string> warnings;
  const Edit edit{ask, resource, options, How::kPatch, [&](const json& live) {
                    const json patch = ReadPatch(ask);
                    warnings = PatchProblems(ask, resource, options);
                    json object = ReadPatched(Patched(patch, Shown(live, resource)), resource,
                                              options, warnings);
                    CheckNames(ask, resource, MetadataOf(object));
                    return object;
                  }};
  const json object = Change(edit, warnings);
  return Answered(200, object, resource, std::move(warnings));
}

json Writes::Change(const Edit& edit, std::vector<std::string>& warnings) {
  const Resource& resource = edit.resource;
  const ObjectKey key{edit.ask.target.ns, edit.ask.target.name};
  for (;;) {
    const StoredPtr seen = world_.store().Get(resource.kept_as, key);
    if (seen == nullptr) throw NotFound(resource, key.name);
    const json live = ReadKept(seen->text, resource);
    json object = Edited(edit, live, warnings);
    if (SameBesideVersion(object, live)) return live;
    if (edit.options.dry_run) return object;
    if (IsBeingDeleted(object) && FinalizersOf(object).empty() &&
        object["metadata"].value("deletionGracePeriodSeconds", 0) == 0 &&
        !KeepsNamespace(resource, object)) {
      if (world_.store().Remove(resource.kept_as, key, seen, ToKept(resource, live)) == nullptr) {
        continue;
      }
      Settle(resource, key, object, true);
      return object;
    } else {
      object = ToKept(resource, std::move(object));
      const Attributes attributes = AttributesOf(resource, object);
      const StoredPtr stored =
          world_.store().Put(resource.kept_as, key, seen, std::move(object), attributes);
      if (stored == nullptr) continue;
      object = ReadKept(stored->text, resource);
      Settle(resource, key, object, false);
      return object;
    }
  }
}

// What `live` is to become.
json Writes::Edited(const Edit& edit, const json& live, std::vector<std::string>& warnings) {
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
