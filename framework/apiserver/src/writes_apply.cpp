// Server-side apply.
#include "decode.hpp"
#include "object_changes.hpp"
#include "objects.hpp"
#include "said.hpp"
#include "status.hpp"
#include "typed_problems.hpp"
#include "writes.hpp"

#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

Refusal Conflicts(const ApplyConflict& conflict) {
  json causes = json::array();
  std::string message;
  const auto& all = conflict.causes();
  for (const auto& [field, owner] : all) {
    causes.push_back({{"reason", "FieldManagerConflict"},
                      {"message", "conflict with " + owner},
                      {"field", field}});
  }
  if (all.size() == 1) {
    message = "Apply failed with 1 conflict: conflict with " + all[0].owner + ": " + all[0].field;
  } else {
    message = "Apply failed with " + std::to_string(all.size()) + " conflicts: ";
    std::string owner;
    for (const auto& cause : all) {
      if (cause.owner != owner) {
        message += (owner.empty() ? "conflicts with " : "\nconflicts with ") + cause.owner + ':';
        owner = cause.owner;
      }
      message += "\n- " + cause.field;
    }
  }
  return {409, "Conflict", message, {{"causes", causes}}};
}

json ReadConfig(const Ask& ask, const Resource& resource) {
  json config;
  try {
    config = Parse(ask.body, "application/yaml");
  } catch (const std::invalid_argument& error) {
    throw BadRequest(std::string("error decoding YAML: ") + error.what());
  }
  if (!config.is_object() && !config.is_null()) {
    throw BadRequest(
        std::string("error decoding YAML: error unmarshaling JSON: while decoding JSON: json: "
                    "cannot unmarshal ") +
        (config.is_array()    ? "array"
         : config.is_string() ? "string"
                              : "number") +
        " into Go value of type map[string]interface {}");
  }
  const std::string version = SaidText(config, "apiVersion");
  const std::string kind = SaidText(config, "kind");
  const std::string group_version =
      version.find('/') == std::string::npos ? '/' + version : version;
  if (version != resource.api_version() || kind != resource.kind) {
    throw BadRequest("invalid object type: " + group_version + ", Kind=" + kind);
  }
  const json metadata = config.value("metadata", json::object());
  if (metadata.is_object() && !metadata.value("managedFields", json()).is_null()) {
    throw BadRequest("metadata.managedFields must be nil");
  }
  const auto problems = TypedProblems(config, *resource.schema);
  if (problems.empty()) return config;
  std::string all;
  for (const std::string& problem : problems) all += (all.empty() ? "" : "\n") + problem;
  throw Refusal(500, "",
                "failed to create typed patch object (" + SaidText(metadata, "namespace") + '/' +
                    SaidText(metadata, "name") + "; " + group_version + ", Kind=" + kind +
                    "): " + (problems.size() > 1 ? "errors:\n  " : "") + all);
}

/// What `config` says of the subresource, and who the object is.
json PartOf(json config, const Ask& ask, const Resource& resource) {
  json& metadata = config["metadata"];
  if (metadata.is_null()) metadata = json::object();
  metadata["name"] = ask.target.name;
  if (resource.namespaced) metadata["namespace"] = ask.target.ns;
  if (ask.target.subresource.empty()) {
    if (resource.Has("status")) config.erase("status");
  } else {
    config = {{"metadata", metadata}, {"status", config.value("status", json())}};
    for (const char* name : {"labels", "annotations", "finalizers", "ownerReferences"}) {
      config["metadata"].erase(name);
    }
  }
  config.erase("kind");
  config.erase("apiVersion");
  return config;
}

/// What is applied may leave its names out.
void CheckNamesIn(const Ask& ask, const Resource& resource, const json& metadata) {
  const std::string name = SaidText(metadata, "name");
  if (!name.empty() && name != ask.target.name) {
    throw BadRequest("the name of the object (" + name + ") does not match the name on the URL (" +
                     ask.target.name + ')');
  }
  CheckNamespaceOf(ask, resource, metadata);
}

void CheckUidOfNew(const Resource& resource, const json& metadata) {
  const std::string uid = SaidText(metadata, "uid");
  if (uid.empty()) return;
  throw Conflict(resource, SaidText(metadata, "name"),
                 "uid mismatch: the provided object specified uid " + uid +
                     ", and no existing object was found");
}

}  // namespace

Reply Writes::Apply(const Ask& ask, const Resource& resource, Warnings& warnings) {
  const WriteOptions options = ReadWriteOptions(ask, "PatchOptions");
  RequireManager(ask);
  const std::size_t said = warnings.size();
  const json sent = ReadConfig(ask, resource);
  CheckNamesIn(ask, resource, sent.value("metadata", json::object()));
  const json config = PartOf(sent, ask, resource);
  const auto fit = [&](json merged) {
    return ReadPatched(Shown(std::move(merged), resource), resource, options, warnings);
  };
  const auto apply_to = [&](const json& live) {
    try {
      return Applied(live, config, *resource.schema, fit, WriterOf(ask, resource), options.force);
    } catch (const ApplyConflict& conflict) {
      throw Conflicts(conflict);
    }
  };
  for (;;) {
    const bool creates =
        ask.target.subresource.empty() &&
        world_.store().Get(resource.kept_as, {ask.target.ns, ask.target.name}) == nullptr;
    try {
      if (creates) CheckUidOfNew(resource, config.at("metadata"));
      const json object =
          creates ? CreateObject(ask, resource, apply_to(Schema::Skeleton(*resource.schema)),
                                 options, warnings, How::kApply)
                  : Change({ask, resource, options, How::kApply, apply_to}, warnings);
      return {.status = creates ? 201 : 200, .body = Shown(object, resource).dump()};
    } catch (const Refusal& refusal) {
      if (!creates || refusal.reason() != "AlreadyExists") throw;
      warnings.resize(said);  // another was faster: there is one to change now
    }
  }
}

}  // namespace kopp::apiserver
