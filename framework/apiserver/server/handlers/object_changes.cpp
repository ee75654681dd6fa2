#include "handlers/object_changes.hpp"

#include "api/status.hpp"
#include "schema/accessors.hpp"
#include "storage/stored_objects.hpp"
#include "strategy/kind_strategy.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Copies a field from `from` to `to`, or erases it in `to` if `from` does not have it.
void CopyField(json& to, const json& from, const char* name) {
  const auto found = from.find(name);
  if (found == from.end()) {
    to.erase(name);
  } else {
    to[name] = *found;
  }
}

/// Returns the object without metadata and status.
json SpecOf(json object) {
  object.erase("metadata");
  object.erase("status");
  return object;
}

}  // namespace

bool IsStatusSubresource(std::string_view subresource) {
  return subresource == "status" || subresource == "approval";
}

void CheckNameMatchesUrl(const WriteRequest& write, const json& metadata) {
  const std::string& expected = write.target.name;
  const std::string name = StringField(metadata, "name");
  if (name.empty()) {
    throw BadRequest("the name of the object (" + expected +
                     " based on URL) was undeterminable: name must be provided");
  }
  if (name != expected) {
    throw BadRequest("the name of the object (" + name + ") does not match the name on the URL (" +
                     expected + ')');
  }
  CheckNamespaceMatchesUrl(write, metadata);
}

void CheckNamespaceMatchesUrl(const WriteRequest& write, const json& metadata) {
  const std::string ns = StringField(metadata, "namespace");
  if (write.resource.namespaced && !ns.empty() && ns != write.target.ns) {
    throw BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
}

void CheckUid(const Resource& resource, const json& live, const json& metadata) {
  const std::string uid = StringField(metadata, "uid");
  if (uid.empty() || uid == StringField(live, "uid")) return;
  throw Conflict(resource, StringField(live, "name"),
                 "Precondition failed: UID in precondition: " + uid +
                     ", UID in object meta: " + StringField(live, "uid"));
}

void CheckVersion(const Resource& resource, const json& live, const json& metadata) {
  const std::string name = StringField(live, "name");
  const std::string version = StringField(metadata, "resourceVersion");
  if (version.empty() || version == "0") {
    if (StrategyOf(resource).allows_unconditional_update) return;
    Resource named = resource;
    named.kind = resource.plural;  // this message of a real server has the plural
    throw Invalid(named, name,
                  {InvalidValue("metadata.resourceVersion", 0, "must be specified for an update")});
  }
  if (version.find_first_not_of("0123456789") != std::string::npos) {
    throw StatusError(500, "", "strconv.ParseUint: parsing \"" + version + "\": invalid syntax");
  }
  if (version != StringField(live, "resourceVersion"))
    throw ResourceVersionConflict(resource, name);
}

void PreserveFields(const Resource& resource, const std::string& subresource, const json& live,
                    json& object) {
  const json& live_metadata = live.at("metadata");
  json& metadata = object.at("metadata");
  for (const char* field : {"namespace", "creationTimestamp", "generation", "resourceVersion"}) {
    CopyField(metadata, live_metadata, field);
  }
  metadata.erase("selfLink");
  for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds"}) {
    if (!metadata.contains(field) || live_metadata.contains(field)) {
      CopyField(metadata, live_metadata, field);
    }
  }
  if (!metadata.contains("name")) CopyField(metadata, live_metadata, "name");
  if (!metadata.contains("uid")) CopyField(metadata, live_metadata, "uid");
  const auto& subresources = StrategyOf(resource).subresources;
  if (const auto found = subresources.find(subresource); found != subresources.end()) {
    object = found->second.merge(live, object);
    return;
  }
  if (IsStatusSubresource(subresource)) {
    json status = live;
    const auto changes = StrategyOf(resource).status_metadata;
    if (!resource.built_in || changes == KindStrategy::StatusMetadata::kNone) {
      CopyField(status["metadata"], metadata, "managedFields");
    } else {
      status["metadata"] = metadata;
      if (changes == KindStrategy::StatusMetadata::kExceptLabels) {
        CopyField(status["metadata"], live_metadata, "labels");
      }
    }
    CopyField(status, object, "status");
    if (!status.contains("status")) status.update(EmptyStatus(resource));
    object = std::move(status);
  } else if (resource.HasSubresource("status")) {
    CopyField(object, live, "status");
  }
}

bool ShouldIncrementGeneration(const Resource& resource, const json& live, const json& object) {
  const auto rule = StrategyOf(resource).generation;
  if (rule == KindStrategy::Generation::kNone) return false;
  if (rule == KindStrategy::Generation::kSpecAndStatus &&
      live.value("status", json()) != object.value("status", json())) {
    return true;
  }
  if (SpecOf(object) != SpecOf(live)) return true;
  const auto changes = [&](const char* field) {
    return object.at("metadata").value(field, json()) != live.at("metadata").value(field, json());
  };
  return (rule == KindStrategy::Generation::kSpecOrAnnotations && changes("annotations")) ||
         (rule == KindStrategy::Generation::kSpecOrLabels && changes("labels"));
}

}  // namespace kopp::apiserver
