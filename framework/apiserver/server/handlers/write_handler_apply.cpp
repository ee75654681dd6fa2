// Server-side apply.
#include "api/request_body.hpp"
#include "api/status.hpp"
#include "decoding/object_decoding.hpp"
#include "decoding/typed_value_validation.hpp"
#include "handlers/object_changes.hpp"
#include "handlers/write_handler.hpp"
#include "json/go_values.hpp"
#include "json/parse.hpp"
#include "schema/accessors.hpp"
#include "storage/object_responses.hpp"

#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

StatusError ConflictError(const ApplyConflict& conflict) {
  json errors = json::array();
  std::string message;
  const auto& all = conflict.conflicts();
  for (const auto& [field, owner] : all) {
    errors.push_back({{"reason", "FieldManagerConflict"},
                      {"message", "conflict with " + owner},
                      {"field", field}});
  }
  if (all.size() == 1) {
    message = "Apply failed with 1 conflict: conflict with " + all[0].manager + ": " + all[0].field;
  } else {
    message = "Apply failed with " + std::to_string(all.size()) + " conflicts: ";
    std::string owner;
    for (const auto& cause : all) {
      if (cause.manager != owner) {
        message += (owner.empty() ? "conflicts with " : "\nconflicts with ") + cause.manager + ':';
        owner = cause.manager;
      }
      message += "\n- " + cause.field;
    }
  }
  return {409, "Conflict", message, {{"causes", errors}}};
}

/// Formats the type of an object as Go does: "apps/v1, Kind=Deployment".
std::string TypeOf(const json& object) {
  const std::string version = StringField(object, "apiVersion");
  return (version.find('/') == std::string::npos ? "/" : "") + version +
         ", Kind=" + StringField(object, "kind");
}

/// Formats what an apply configuration names: "default/web; apps/v1, Kind=Deployment".
std::string IdentityOf(const json& config) {
  const json& metadata = Field(config, "metadata");
  return StringField(metadata, "namespace") + '/' + StringField(metadata, "name") + "; " +
         TypeOf(config);
}

/// Returns the errors about the types of values, or "".
std::string TypeErrors(const json& object, const Schema& schema) {
  const auto errors = ValidateTypedValue(object, schema);
  return errors.size() > 1 ? "errors:\n  " + Join(errors, "\n  ") : Join(errors);
}

json DecodeApplyConfiguration(const ServerRequest& request, const Resource& resource) {
  json config;
  try {
    config = ParseJsonOrYaml(request.body, "application/yaml");
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
  const auto is = [&](const char* name, const std::string& value) {
    return StringField(config, name) == value;
  };
  if (!is("apiVersion", resource.api_version()) || !is("kind", resource.kind)) {
    throw BadRequest("invalid object type: " + TypeOf(config));
  }
  const json metadata = config.value("metadata", json::object());
  if (metadata.is_object() && !metadata.value("managedFields", json()).is_null()) {
    throw BadRequest("metadata.managedFields must be nil");
  }
  const std::string errors = TypeErrors(config, *resource.schema);
  if (errors.empty()) return config;
  throw StatusError(500, "",
                    "failed to create typed patch object (" + IdentityOf(config) + "): " + errors);
}

/// Returns the fields of `config` that a request to this subresource applies, with the object's
/// name.
json AppliedFields(json config, const WriteRequest& write) {
  const auto& [resource, target, user, options, deadline] = write;
  json& metadata = config["metadata"];
  if (metadata.is_null()) metadata = json::object();
  metadata["name"] = target.name;
  if (resource.namespaced) metadata["namespace"] = target.ns;
  if (target.subresource.empty()) {
    if (resource.HasSubresource("status")) config.erase("status");
  } else {
    const json::json_pointer field(
        target.subresource == "ephemeralcontainers" ? "/spec/ephemeralContainers" : "/status");
    json applied{{"metadata", metadata}};
    if (config.contains(field)) applied[field] = config[field];
    config = std::move(applied);
    for (const char* name : {"labels", "annotations", "finalizers", "ownerReferences"}) {
      config["metadata"].erase(name);
    }
  }
  config.erase("kind");
  config.erase("apiVersion");
  return config;
}

/// Same as CheckNameMatchesUrl, but an apply configuration may omit the name.
void CheckOptionalNameMatchesUrl(const WriteRequest& write, const json& metadata) {
  const std::string name = StringField(metadata, "name");
  if (!name.empty() && name != write.target.name) {
    throw BadRequest("the name of the object (" + name + ") does not match the name on the URL (" +
                     write.target.name + ')');
  }
  CheckNamespaceMatchesUrl(write, metadata);
}

/// Decodes the object that results from applying `config`.
json DecodeResult(json object, const json& config, const WriteRequest& write, Warnings& warnings) {
  const Resource& resource = write.resource;
  object = ResponseObject(std::move(object), resource);
  if (!resource.built_in) {
    return DecodePatchedObject(std::move(object), resource, write.options, warnings);
  }
  try {
    ConvertUnstructured(object, *resource.schema);
    return DecodeBuiltIn(std::move(object), *resource.schema);
  } catch (const std::invalid_argument& error) {
    throw StatusError(500, "",
                      "failed to convert new object (" + IdentityOf(config) +
                          ") to proper version: unable to convert unstructured object to " +
                          TypeOf(config) + ": " + error.what());
  }
}

void CheckNewObjectHasNoUid(const Resource& resource, const json& metadata) {
  const std::string uid = StringField(metadata, "uid");
  if (uid.empty()) return;
  throw Conflict(resource, StringField(metadata, "name"),
                 "uid mismatch: the provided object specified uid " + uid +
                     ", and no existing object was found");
}

}  // namespace

ServerResponse WriteHandler::Apply(const ServerRequest& request, const Resource& resource,
                                   Warnings& warnings) {
  const WriteRequest write(request, resource);
  const std::size_t warning_count = warnings.size();
  const json sent = DecodeApplyConfiguration(request, resource);
  CheckOptionalNameMatchesUrl(write, sent.value("metadata", json::object()));
  const json config = AppliedFields(sent, write);
  const auto decode = [&](json merged) {
    return DecodeResult(std::move(merged), sent, write, warnings);
  };
  const auto apply_to = [&](const json& live) {
    try {
      return ServerSideApply(live, config, *resource.schema, decode,
                             FieldManagerOf(write, context_.Now()), write.options.force);
    } catch (const ApplyConflict& conflict) {
      throw ConflictError(conflict);
    } catch (const std::invalid_argument&) {  // see ServerSideApply
      const json shown = ResponseObject(live, resource);
      throw StatusError(
          500, "",
          "failed to create manager for existing fields: failed to convert new object (" +
              IdentityOf(shown) + ") to smd typed: " + TypeErrors(shown, *resource.schema));
    }
  };
  for (;;) {
    const bool creates = request.target.subresource.empty() &&
                         context_.store().Get(resource.storage_resource,
                                              {request.target.ns, request.target.name}) == nullptr;
    try {
      if (creates) CheckNewObjectHasNoUid(resource, config.at("metadata"));
      json object = creates ? CreateByUpdate(write, apply_to(Schema::EmptyObject(*resource.schema)),
                                             warnings, WriteKind::kApply)
                            : UpdateObject({write, WriteKind::kApply, apply_to}, warnings);
      return {.status = creates ? 201 : 200, .body = ResponseObject(std::move(object), resource)};
    } catch (const StatusError& error) {
      if (!creates || error.reason() != "AlreadyExists") throw;
      warnings.resize(warning_count);  // another client created the object: update it
    }
  }
}

}  // namespace kopp::apiserver
