#include "handlers/write_handler.hpp"

#include "api/event_conversion.hpp"
#include "api/patch_body.hpp"
#include "api/status.hpp"
#include "auth/authorizer.hpp"
#include "auth/owner_reference_check.hpp"
#include "decoding/defaults.hpp"
#include "handlers/object_changes.hpp"
#include "schema/accessors.hpp"
#include "schema/finalizers.hpp"
#include "schema/metadata_validation.hpp"
#include "schema/pruning.hpp"
#include "storage/stored_objects.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr int kMaxNameAttempts = 8;  // attempts to generate a name for an object

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

ServerResponse ObjectResponse(int status, json object, const Resource& resource) {
  return {.status = status, .body = ResponseObject(std::move(object), resource)};
}

/// Adds an error for each finalizer without a domain, or a warning if `before` does not have it.
void CheckFinalizerDomains(const KindStrategy& strategy, const json& before, const json& object,
                           FieldErrors& errors, Warnings& warnings) {
  using Domain = KindStrategy::FinalizerDomain;
  if (strategy.finalizer_domain == Domain::kOptional) return;
  const std::vector<std::string> names = FinalizersOf(object);
  const std::vector<std::string> old_names =
      names.empty() ? std::vector<std::string>() : FinalizersOf(before);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (IsQualifiedFinalizer(names[i])) continue;
    if (strategy.finalizer_domain == Domain::kRequired) {
      errors.push_back(
          InvalidValue("metadata.finalizers[" + std::to_string(i) + ']', names[i],
                       "name is neither a standard finalizer name nor is it fully qualified"));
    } else if (std::find(old_names.begin(), old_names.end(), names[i]) == old_names.end()) {
      warnings.push_back("metadata.finalizers: " + json(names[i]).dump() +
                         ": prefer a domain-qualified finalizer name to avoid accidental conflicts "
                         "with other finalizer writers");
    }
  }
}

void CheckPatchType(const std::string& type, const Resource& resource) {
  if (type == "application/merge-patch+json" || type == "application/json-patch+json" ||
      type == "application/apply-patch+yaml") {
    return;
  }
  if (type == kStrategicMergePatch && resource.built_in) return;
  constexpr const char* kReason = "UnsupportedMediaType";
  if (!resource.built_in) {
    throw StatusError(
        415, kReason,
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, "
        "application/apply-patch+yaml");
  }
  throw StatusError(415, kReason, "415: Unsupported Media Type", json::object());
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

/// Whether a write of `live`, which was read from `text`, would not change the stored object. It
/// does if reading has removed fields that the schemas do not have.
bool IsStored(const json& live, const std::string& text, const Resource& resource) {
  return resource.stored_schema == nullptr || json::parse(text) == live;
}

/// Validates an update of an object, its status or another subresource.
void ValidateUpdate(const KindStrategy& strategy, const std::string& subresource, const json& live,
                    const json& object, FieldErrors& errors) {
  using Validation = KindStrategy::UpdateValidation;
  if (const auto found = strategy.subresources.find(subresource);
      found != strategy.subresources.end()) {
    return found->second.validate_update(live, object, errors);
  }
  const bool is_status = IsStatusSubresource(subresource);
  if (!is_status && strategy.validates_generate_name_on_update)
    ValidateGenerateName(FieldRef(object)["metadata"]["generateName"], strategy.validate_name,
                         errors);
  const auto validate_change = [&] {
    if (strategy.validate_update) strategy.validate_update(live, object, errors);
  };
  const Validation validation =
      is_status ? Validation::kObjectThenChange : strategy.update_validation;
  if (validation != Validation::kObjectThenChange) validate_change();
  const auto& validate = is_status ? strategy.validate_status : strategy.validate;
  if (validate && validation != Validation::kChange) validate(object, errors);
  if (validation == Validation::kObjectThenChange) validate_change();
}

}  // namespace

void WriteHandler::CheckWrite(const ServerRequest& request, const Resource& resource,
                              const json& before, const json& object) {
  const auto check = context_.extensions().check_write;
  if (check != nullptr) check(context_, request, resource, before, object);
}

FieldManager WriteHandler::FieldManagerOf(const ServerRequest& request, const Resource& resource) {
  const bool is_scale =
      request.target.subresource == "scale";  // managedFields entries of scale have no time
  return {request.field_manager(), resource.api_version(), request.target.subresource,
          is_scale ? "" : context_.Now(), resource.HasSubresource("status")};
}

StoredObjectPtr WriteHandler::RequireActiveNamespace(const Resource& resource,
                                                     const std::string& ns,
                                                     const std::string& name) {
  if (!resource.namespaced) return nullptr;
  StoredObjectPtr stored = context_.store().Get("namespaces", {"", ns});
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

ServerResponse WriteHandler::Create(const ServerRequest& request, const Resource& resource,
                                    Warnings& warnings) {
  CheckMediaType(request, resource);
  const WriteOptions options = ReadWriteOptions(request, "CreateOptions");
  json object = DecodeObject(request, resource, options, warnings);
  CheckNamespaceMatchesUrl(request, resource, EnsureMetadata(object));
  object = CreateObject(request, resource, std::move(object), options, warnings, WriteKind::kPut);
  return ObjectResponse(201, std::move(object), resource);
}

json WriteHandler::CreateObject(const ServerRequest& request, const Resource& resource, json object,
                                const WriteOptions& options, Warnings& warnings, WriteKind kind) {
  const KindStrategy& strategy = StrategyOf(resource);
  const ObjectKey key = AssignKey(request, resource, EnsureMetadata(object));
  const StoredObjectPtr ns = RequireActiveNamespace(resource, key.ns, key.name);
  if (resource.terminating) {
    throw Forbidden(resource, key.name,
                    "create not allowed while custom resource definition is terminating");
  }
  const std::string version = StringField(object["metadata"], "resourceVersion");
  PrepareNewObject(resource, object, warnings);
  CheckWrite(request, resource, nullptr, object);
  if (kind != WriteKind::kApply) {
    object["metadata"].erase("managedFields");
    json blank = ZeroObject(*resource.schema);
    if (resource.HasSubresource("status") && object.contains("status"))
      blank["status"] = object["status"];
    object = UpdateManagedFields(blank, std::move(object), *resource.schema,
                                 FieldManagerOf(request, resource));
  }
  if (!strategy.has_managed_fields) object["metadata"].erase("managedFields");
  if (strategy.assign_creator) strategy.assign_creator(request.user, object);
  if (strategy.assign_fields) strategy.assign_fields(context_, nullptr, object);

  FieldErrors errors = ValidateMetadata(FieldRef(object)["metadata"], strategy.validate_name);
  CheckFinalizerDomains(strategy, nullptr, object, errors, warnings);
  if (strategy.validate) strategy.validate(object, errors);
  if (strategy.validate_create) strategy.validate_create(object, errors);
  if (!errors.empty()) throw Invalid(resource, key.name, errors);
  if (strategy.warn_create) strategy.warn_create(object, warnings);
  if (strategy.warn) strategy.warn(object, warnings);
  CheckOwnerReferences(context_, request, resource, nullptr, object);
  if (!options.dry_run && IsStoredVersion(version) && kind != WriteKind::kApply) {
    throw StatusError(500, "", "resourceVersion should not be set on objects to be created");
  }
  if (const StoredObjectPtr existing = context_.store().Get(resource.storage_resource, key);
      existing != nullptr) {
    throw AlreadyExists(resource, key.name, IsBeingDeleted(json::parse(existing->text)));
  }
  // The status has its schema's defaults, which no field manager owns.
  if (!resource.built_in) ApplySchemaDefaults(object, *resource.schema);
  if (!options.dry_run) return StoreNewObject(resource, key, std::move(object), ns);
  if (!version.empty()) object["metadata"]["resourceVersion"] = version;
  return object;
}

json WriteHandler::CreateByUpdate(const ServerRequest& request, const Resource& resource,
                                  json object, const WriteOptions& options, Warnings& warnings,
                                  WriteKind kind) {
  AccessAttributes attributes = AttributesOf(request);
  attributes.verb = "create";
  const AccessDecision decision = Authorize(context_, request.user, attributes);
  if (!decision.allowed) throw Forbidden(resource, request.target.name, decision.reason);
  return CreateObject(request, resource, std::move(object), options, warnings, kind);
}

ObjectKey WriteHandler::AssignKey(const ServerRequest& request, const Resource& resource,
                                  json& metadata) {
  metadata.erase("namespace");
  if (resource.namespaced) metadata["namespace"] = request.target.ns;
  const std::string prefix = StringField(metadata, "generateName");
  const auto key = [&] { return ObjectKey{request.target.ns, StringField(metadata, "name")}; };
  if (!StringField(metadata, "name").empty() || prefix.empty()) return key();
  for (int tries = 0; tries < kMaxNameAttempts; ++tries) {
    metadata["name"] = context_.GenerateName(prefix);
    if (context_.store().Get(resource.storage_resource, key()) == nullptr) break;
  }
  return key();
}

void WriteHandler::PrepareNewObject(const Resource& resource, json& object, Warnings& warnings) {
  const KindStrategy& strategy = StrategyOf(resource);
  json& metadata = object["metadata"];
  for (const char* field :
       {"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    metadata.erase(field);
  }
  metadata["uid"] = context_.NewUid();
  metadata["creationTimestamp"] = context_.Now();
  if (strategy.generation != KindStrategy::Generation::kNone) metadata["generation"] = 1;
  if (resource.HasSubresource("status") && !strategy.keeps_status_on_create) {
    object.erase("status");
    object.update(EmptyStatus(resource));
  }
  if (strategy.apply_defaults) strategy.apply_defaults(object);
  if (const std::string warning = DedupOwnerReferences(object); !warning.empty()) {
    warnings.push_back(warning);
  }
}

json WriteHandler::StoreNewObject(const Resource& resource, const ObjectKey& key, json object,
                                  const StoredObjectPtr& ns) {
  object = ToStorageVersion(resource, std::move(object));
  if (context_.store().Put(resource.storage_resource, key, nullptr, object,
                           ObjectAttributesOf(resource, object)) == nullptr) {
    throw AlreadyExists(resource, key.name, false);
  }
  object = FromStorageVersion(resource, std::move(object));
  collector_.ProcessWrite(resource, key, object, false);
  if (context_.store().Get("namespaces", {"", key.ns}) != ns) collector_.ProcessNamespace(key.ns);
  return object;
}

ServerResponse WriteHandler::Update(const ServerRequest& request, const Resource& resource,
                                    Warnings& warnings) {
  CheckMediaType(request, resource);
  if (request.target.subresource == "scale") return WriteScale(request, resource, warnings);
  const WriteOptions options = ReadWriteOptions(request, "UpdateOptions");
  json object = DecodeObject(request, resource, options, warnings);
  CheckNameMatchesUrl(request, resource, EnsureMetadata(object));
  if (StrategyOf(resource).allows_create_on_update && request.target.subresource.empty() &&
      context_.store().Get(resource.storage_resource, {request.target.ns, request.target.name}) ==
          nullptr) {
    object =
        CreateByUpdate(request, resource, std::move(object), options, warnings, WriteKind::kPut);
    return ObjectResponse(201, std::move(object), resource);
  }
  const UpdateParams params{request, resource, options, WriteKind::kPut,
                            [&](const json&) { return object; }};
  return ObjectResponse(200, UpdateObject(params, warnings), resource);
}

ServerResponse WriteHandler::Patch(const ServerRequest& request, const Resource& resource,
                                   Warnings& warnings) {
  const std::string type = request.content_type.substr(0, request.content_type.find(';'));
  CheckPatchType(type, resource);
  if (type == "application/apply-patch+yaml") return Apply(request, resource, warnings);
  if (request.target.subresource == "scale") return WriteScale(request, resource, warnings);
  const WriteOptions options = ReadWriteOptions(request, "PatchOptions");
  RejectForce(request);
  const UpdateParams params{request, resource, options, WriteKind::kPatch, [&](const json& live) {
                              json object =
                                  PatchedObject(request, resource, options, live, warnings);
                              CheckNameMatchesUrl(request, resource, EnsureMetadata(object));
                              return object;
                            }};
  return ObjectResponse(200, UpdateObject(params, warnings), resource);
}

json WriteHandler::UpdateObject(const UpdateParams& params, Warnings& warnings) {
  const Resource& resource = params.resource;
  const ObjectKey key{params.request.target.ns, params.request.target.name};
  for (const Warnings warnings_before = warnings;; warnings = warnings_before) {
    const StoredObjectPtr seen = context_.store().Get(resource.storage_resource, key);
    if (seen == nullptr) throw NotFound(resource, key.name);
    json live = ParseStoredObject(seen->text, resource);
    json object = PrepareUpdate(params, live, warnings);
    if (EqualExceptVersion(object, live) && IsStored(live, seen->text, resource)) return live;
    if (params.options.dry_run) return object;
    if (IsReadyForRemoval(resource, object)) {
      if (context_.store().Remove(resource.storage_resource, key, seen,
                                  ToStorageVersion(resource, live)) == nullptr) {
        continue;
      }
      collector_.ProcessWrite(resource, key, object, true);
      return object;
    }
    object = ToStorageVersion(resource, std::move(object));
    if (context_.store().Put(resource.storage_resource, key, seen, object,
                             ObjectAttributesOf(resource, object)) == nullptr) {
      continue;
    }
    object = FromStorageVersion(resource, std::move(object));
    collector_.ProcessWrite(resource, key, object, false);
    return object;
  }
}

json WriteHandler::PrepareUpdate(const UpdateParams& params, const json& live, Warnings& warnings) {
  const Resource& resource = params.resource;
  const std::string& subresource = params.request.target.subresource;
  const KindStrategy& strategy = StrategyOf(resource);
  json object = params.update(live);
  CheckUidAndVersion(resource, params.kind == WriteKind::kPut, live.at("metadata"),
                     EnsureMetadata(object));
  PreserveFields(resource, subresource, live, object);
  CheckWrite(params.request, resource, live, object);
  if (strategy.apply_defaults) strategy.apply_defaults(object);
  if (!strategy.has_managed_fields) {
    object["metadata"].erase("managedFields");
  } else if (params.kind != WriteKind::kApply) {
    object = UpdateManagedFields(live, std::move(object), *resource.schema,
                                 FieldManagerOf(params.request, resource));
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
  FieldErrors errors =
      ValidateMetadataUpdate(FieldRef(live)["metadata"], FieldRef(object)["metadata"]);
  CheckFinalizerDomains(strategy, live, object, errors, warnings);
  ValidateUpdate(strategy, subresource, live, object, errors);
  if (!errors.empty()) throw Invalid(resource, params.request.target.name, errors);
  if (strategy.warn && Field(live, "spec") != Field(object, "spec"))
    strategy.warn(object, warnings);
  CheckOwnerReferences(context_, params.request, resource, live, object);
  return object;
}

}  // namespace kopp::apiserver
