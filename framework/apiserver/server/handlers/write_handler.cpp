#include "handlers/write_handler.hpp"

#include "api/content_type.hpp"
#include "api/event_conversion.hpp"
#include "api/patch_body.hpp"
#include "api/request_body.hpp"
#include "api/status.hpp"
#include "auth/authorizer.hpp"
#include "auth/owner_reference_check.hpp"
#include "decoding/defaults.hpp"
#include "handlers/object_changes.hpp"
#include "handlers/object_validation.hpp"
#include "schema/finalizers.hpp"
#include "schema/metadata_validation.hpp"
#include "schema/pruning.hpp"
#include "storage/object_responses.hpp"
#include "storage/stored_objects.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns whether kube-apiserver's storage can parse the resourceVersion of a new object, and
/// therefore rejects it.
bool IsStoredVersion(const std::string& version) {
  return version.find_first_not_of('0') != std::string::npos &&
         version.find_first_not_of("0123456789") == std::string::npos;
}

bool EqualExceptVersion(json a, json b) {
  a["metadata"].erase("resourceVersion");
  b["metadata"].erase("resourceVersion");
  return a == b;
}

/// Returns `live` with the patch in the body applied.
json PatchedObject(const ServerRequest& request, const Resource& resource,
                   const WriteOptions& options, const json& live, Warnings& warnings) {
  if (request.media_type() == kStrategicMergePatch) {
    return ApplyStrategicMergePatchBody(request, resource, options, ResponseObject(live, resource),
                                        warnings);
  }
  const json patch = DecodePatch(request);
  for (std::string& error : FindStrictPatchErrors(request, resource, options)) {
    warnings.push_back(std::move(error));
  }
  return DecodePatchedObject(ApplyPatch(patch, ResponseObject(live, resource)), resource, options,
                             warnings);
}

/// Returns whether the stored object is equal to `live`, which was read from its text `text`. It is
/// not if reading has removed fields that the schemas do not have.
bool IsStored(const json& live, const std::string& text, const Resource& resource) {
  return resource.stored_schema == nullptr || json::parse(text) == live;
}

}  // namespace

ServerResponse WriteHandler::Create(const ServerRequest& request, const Resource& resource,
                                    Warnings& warnings) {
  CheckMediaType(request, resource);
  const WriteRequest write(request, resource);
  json object = DecodeObject(request, resource, write.options, warnings);
  CheckNamespaceMatchesUrl(write, object.at("metadata"));
  object = CreateObject(write, std::move(object), warnings, WriteKind::kPut);
  return {.status = 201, .body = ResponseObject(std::move(object), resource)};
}

json WriteHandler::CreateObject(const WriteRequest& write, json object, Warnings& warnings,
                                WriteKind kind) {
  const Resource& resource = write.resource;
  const KindStrategy& strategy = StrategyOf(resource);
  const StoredObjectPtr ns = RequireActiveNamespace(context_, write, object);
  const std::string sent_name = StringField(object.at("metadata"), "name");
  const bool has_managers = MutateNewObject(write, object, warnings, kind);
  const NewObject created = PrepareNewObject(context_, write, ns, object, warnings);
  context_.extensions().check_write(context_, write, nullptr, object);
  if (!strategy.has_managed_fields) {
    object["metadata"].erase("managedFields");
  } else if (kind != WriteKind::kApply && !has_managers) {
    SetFirstManager(object, *resource.schema, FieldManagerOf(write, context_.Now()));
  }
  if (strategy.assign_creator) strategy.assign_creator(write.user, object);
  if (strategy.assign_fields) strategy.assign_fields(context_, nullptr, object);
  ValidateNewObject(resource, object, warnings);
  CheckOwnerReferences(context_, write, nullptr, object);
  if (!write.options.dry_run && IsStoredVersion(created.sent_version) &&
      kind != WriteKind::kApply) {
    throw StatusError(500, "", "resourceVersion should not be set on objects to be created");
  }
  if (resource.built_in) {
    ReplaceEmptyLists(object, *resource.schema);
  } else {  // the status has its schema's defaults, which no field manager owns
    ApplySchemaDefaults(object, *resource.schema);
  }
  if (webhooks_ != nullptr && webhooks_->HasValidating(resource)) {
    const std::string& name = sent_name.empty() ? created.key.name : sent_name;
    webhooks_->Validate(AttributesOfWrite(write, name, nullptr), object, warnings);
  }
  return StoreNewObject(write, created, std::move(object));
}

json WriteHandler::CreateByUpdate(const WriteRequest& write, json object, Warnings& warnings,
                                  WriteKind kind) {
  const AccessDecision decision =
      Authorize(context_, write.user, AttributesOf("create", write.target));
  if (!decision.allowed) throw Forbidden(write.resource, write.target.name, decision.reason);
  return CreateObject(write, std::move(object), warnings, kind);
}

json WriteHandler::StoreNewObject(const WriteRequest& write, const NewObject& created,
                                  json object) {
  const Resource& resource = write.resource;
  const ObjectKey& key = created.key;
  if (const StoredObjectPtr existing = context_.store().Get(resource.storage_resource, key)) {
    throw AlreadyExists(resource, key.name, IsBeingDeleted(json::parse(existing->text)));
  }
  if (write.options.dry_run) {
    if (!created.sent_version.empty()) object["metadata"]["resourceVersion"] = created.sent_version;
    return object;
  }
  if (!PutObject(context_.store(), resource, key, nullptr, object)) {
    throw AlreadyExists(resource, key.name, false);
  }
  collector_.ProcessWrite(resource, key, object, false);
  if (context_.store().Get("namespaces", {"", key.ns}) != created.ns)
    collector_.ProcessNamespace(key.ns);
  return object;
}

ServerResponse WriteHandler::Update(const ServerRequest& request, const Resource& resource,
                                    Warnings& warnings) {
  CheckMediaType(request, resource);
  if (request.target.subresource == "scale") return WriteScale(request, resource, warnings);
  const WriteRequest write(request, resource);
  json object = DecodeObject(request, resource, write.options, warnings);
  CheckNameMatchesUrl(write, object.at("metadata"));
  if (StrategyOf(resource).allows_create_on_update && request.target.subresource.empty() &&
      context_.store().Get(resource.storage_resource, {request.target.ns, request.target.name}) ==
          nullptr) {
    object = CreateByUpdate(write, std::move(object), warnings, WriteKind::kPut);
    return {.status = 201, .body = ResponseObject(std::move(object), resource)};
  }
  const UpdateParams params{write, WriteKind::kPut, [&](const json&) { return object; }};
  return {.body = ResponseObject(UpdateObject(params, warnings), resource)};
}

ServerResponse WriteHandler::Patch(const ServerRequest& request, const Resource& resource,
                                   Warnings& warnings) {
  CheckPatchType(request, resource);
  if (request.media_type() == kApplyPatch) return Apply(request, resource, warnings);
  if (request.target.subresource == "scale") return WriteScale(request, resource, warnings);
  const WriteRequest write(request, resource);
  const auto update = [&](const json& live) {
    json object = PatchedObject(request, resource, write.options, live, warnings);
    CheckNameMatchesUrl(write, object.at("metadata"));
    return object;
  };
  json object = UpdateObject({write, WriteKind::kPatch, update}, warnings);
  return {.body = ResponseObject(std::move(object), resource)};
}

json WriteHandler::UpdateObject(const UpdateParams& params, Warnings& warnings) {
  const auto& [resource, target, user, options, deadline] = params.write;
  const ObjectKey key{target.ns, target.name};
  for (const Warnings warnings_before = warnings;; warnings = warnings_before) {
    const StoredObjectPtr seen = context_.store().Get(resource.storage_resource, key);
    if (seen == nullptr) throw NotFound(resource, key.name);
    json live = ParseStoredObject(seen->text, resource);
    json object = PrepareUpdate(params, live, warnings);
    if (EqualExceptVersion(object, live) && IsStored(live, seen->text, resource)) return live;
    if (options.dry_run) return object;
    if (IsReadyForRemoval(resource, object)) {
      if (context_.store().Remove(resource.storage_resource, key, seen,
                                  ToStorageVersion(resource, live)) == nullptr) {
        continue;
      }
      collector_.ProcessWrite(resource, key, object, true);
      return object;
    }
    if (!PutObject(context_.store(), resource, key, seen, object)) continue;
    collector_.ProcessWrite(resource, key, object, false);
    return object;
  }
}

json WriteHandler::PrepareUpdate(const UpdateParams& params, const json& live, Warnings& warnings) {
  const Resource& resource = params.write.resource;
  const std::string& subresource = params.write.target.subresource;
  const KindStrategy& strategy = StrategyOf(resource);
  json object = params.update(live);
  if (params.kind == WriteKind::kPut) {
    CheckUid(resource, live.at("metadata"), object.at("metadata"));
  }
  const bool has_managers = MutateUpdate(params, live, object, warnings);
  CheckVersion(resource, live.at("metadata"), object.at("metadata"));
  PreserveFields(resource, subresource, live, object);
  context_.extensions().check_write(context_, params.write, live, object);
  if (strategy.apply_defaults) strategy.apply_defaults(object);
  if (!strategy.has_managed_fields) {
    object["metadata"].erase("managedFields");
  } else if (params.kind != WriteKind::kApply && !has_managers) {
    object = UpdateManagedFields(live, std::move(object), *resource.schema,
                                 FieldManagerOf(params.write, context_.Now()));
  }
  if (strategy.assign_fields && subresource.empty()) strategy.assign_fields(context_, live, object);
  if (strategy.assign_status_fields && IsStatusSubresource(subresource)) {
    strategy.assign_status_fields(context_, subresource, live, object);
  }
  if (const std::string warning = DedupOwnerReferences(object); !warning.empty()) {
    warnings.push_back(warning);
  }
  if (ShouldIncrementGeneration(resource, live, object)) {
    object["metadata"]["generation"] = live.at("metadata").value("generation", 0) + 1;
  }
  ValidateUpdatedObject(resource, subresource, live, object, warnings);
  CheckOwnerReferences(context_, params.write, live, object);
  if (resource.built_in) ReplaceEmptyLists(object, *resource.schema);
  ReviewUpdate(params.write, live, object, warnings);
  return object;
}

}  // namespace kopp::apiserver
