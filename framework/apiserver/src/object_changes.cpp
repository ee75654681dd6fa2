#include "object_changes.hpp"

#include "kind_rules.hpp"
#include "objects.hpp"
#include "said.hpp"
#include "status.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

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

}  // namespace

json& MetadataOf(json& object) {
  json& metadata = object["metadata"];
  if (metadata.is_null()) metadata = json::object();
  return metadata;
}

void CheckNames(const Ask& ask, const Resource& resource, const json& metadata) {
  const std::string name = SaidText(metadata, "name");
  if (name.empty()) {
    throw BadRequest("the name of the object (" + ask.target.name +
                     " based on URL) was undeterminable: name must be provided");
  }
  if (name != ask.target.name) {
    throw BadRequest("the name of the object (" + name + ") does not match the name on the URL (" +
                     ask.target.name + ')');
  }
  CheckNamespaceOf(ask, resource, metadata);
}

void CheckNamespaceOf(const Ask& ask, const Resource& resource, const json& metadata) {
  const std::string ns = SaidText(metadata, "namespace");
  if (resource.namespaced && !ns.empty() && ns != ask.target.ns) {
    throw BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
}

void CheckState(const Resource& resource, bool is_put, const json& was, const json& metadata) {
  const std::string name = SaidText(was, "name");
  const std::string uid = SaidText(metadata, "uid");
  if (is_put && !uid.empty() && uid != SaidText(was, "uid")) {
    throw Conflict(resource, name,
                   "Precondition failed: UID in precondition: " + uid +
                       ", UID in object meta: " + SaidText(was, "uid"));
  }
  const std::string version = SaidText(metadata, "resourceVersion");
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
  if (version != SaidText(was, "resourceVersion")) throw Modified(resource, name);
}

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

}  // namespace kopp::apiserver
