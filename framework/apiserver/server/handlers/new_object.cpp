#include "handlers/new_object.hpp"

#include "api/status.hpp"
#include "schema/accessors.hpp"
#include "schema/finalizers.hpp"
#include "schema/metadata_validation.hpp"
#include "storage/stored_objects.hpp"
#include "strategy/kind_strategy.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr int kMaxNameAttempts = 8;  // attempts to generate a name for an object

/// Sets the name and namespace in the metadata of a new object; generates a name from
/// generateName. Returns its key.
ObjectKey AssignKey(ServerContext& context, const Resource& resource, const std::string& ns,
                    json& metadata) {
  metadata.erase("namespace");
  if (resource.namespaced) metadata["namespace"] = ns;
  ObjectKey key{ns, StringField(metadata, "name")};
  const std::string prefix = StringField(metadata, "generateName");
  if (!key.name.empty() || prefix.empty()) return key;
  for (int tries = 0; tries < kMaxNameAttempts; ++tries) {
    key.name = context.GenerateName(prefix);
    if (context.store().Get(resource.storage_resource, key) == nullptr) break;
  }
  metadata["name"] = key.name;
  return key;
}

/// Sets the fields of a new object that the server assigns, and applies defaults.
void AssignFields(ServerContext& context, const Resource& resource, json& object) {
  const KindStrategy& strategy = StrategyOf(resource);
  json& metadata = object["metadata"];
  for (const char* field :
       {"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    metadata.erase(field);
  }
  metadata["uid"] = context.NewUid();
  metadata["creationTimestamp"] = context.Now();
  if (strategy.generation != KindStrategy::Generation::kNone) metadata["generation"] = 1;
  if (resource.HasSubresource("status") && !strategy.keeps_status_on_create) {
    object.erase("status");
    object.update(EmptyStatus(resource));
  }
  if (strategy.apply_defaults) strategy.apply_defaults(object);
}

}  // namespace

StoredObjectPtr RequireActiveNamespace(ServerContext& context, const WriteRequest& write,
                                       const json& object) {
  const Resource& resource = write.resource;
  const std::string& ns = write.target.ns;
  const json& metadata = object.at("metadata");
  std::string name = StringField(metadata, "name");
  if (name.empty()) name = StringField(metadata, "generateName");
  StoredObjectPtr stored;
  if (resource.namespaced) stored = context.store().Get("namespaces", {"", ns});
  if (resource.namespaced && stored == nullptr) {
    Resource namespaces;
    namespaces.plural = "namespaces";
    throw NotFound(namespaces, ns);
  }
  if (stored != nullptr && IsBeingDeleted(json::parse(stored->text))) {
    throw Forbidden(
        resource, name,
        "unable to create new content in namespace " + ns + " because it is being terminated",
        json::array({{{"reason", "NamespaceTerminating"},
                      {"message", "namespace " + ns + " is being terminated"},
                      {"field", "metadata.namespace"}}}));
  }
  if (!resource.terminating) return stored;
  throw Forbidden(resource, name,
                  "create not allowed while custom resource definition is terminating");
}

NewObject PrepareNewObject(ServerContext& context, const WriteRequest& write, StoredObjectPtr ns,
                           json& object, Warnings& warnings) {
  const Resource& resource = write.resource;
  json& metadata = object.at("metadata");
  NewObject created{.key = AssignKey(context, resource, write.target.ns, metadata),
                    .ns = std::move(ns),
                    .sent_version = StringField(metadata, "resourceVersion")};
  AssignFields(context, resource, object);
  if (const std::string warning = DedupOwnerReferences(object); !warning.empty()) {
    warnings.push_back(warning);
  }
  return created;
}

}  // namespace kopp::apiserver
