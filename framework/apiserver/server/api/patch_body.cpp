#include "api/patch_body.hpp"

#include "api/json_patch.hpp"
#include "api/request_body.hpp"
#include "api/status.hpp"
#include "api/strategic_merge_patch.hpp"
#include "decoding/object_decoding.hpp"
#include "json/go_values.hpp"
#include "json/parse.hpp"

#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace kopp::apiserver {

using nlohmann::json;

namespace {

std::vector<std::string> FindDuplicateFields(const std::string& patch, const Resource& resource) {
  std::vector<std::string> errors = FindStrictDecodingErrors(patch, *resource.schema);
  std::erase_if(errors, [](const std::string& error) { return !error.starts_with("duplicate"); });
  return errors;
}

/// Decodes the body of a strategic merge patch. A null changes nothing.
json DecodeStrategicMergePatch(const ServerRequest& request) {
  json patch;
  try {
    patch = ParseJsonOrYaml(request.body, request.content_type);
  } catch (const std::invalid_argument& error) {
    throw BadRequest(error.what());
  }
  if (patch.is_null()) return json::object();
  if (patch.is_object()) return patch;
  throw BadRequest(
      fmt::format("json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                  GoJsonType(patch)));
}

/// Removes the null members of objects in the lists of a merge patch, as kube-apiserver does beyond
/// RFC 7386.
void RemoveNullsInLists(json& value, bool is_in_list = false) {
  if (value.is_object() && is_in_list) {
    for (auto member = value.begin(); member != value.end();) {
      member = member->is_null() ? value.erase(member) : std::next(member);
    }
  }
  if (!value.is_structured()) return;
  for (json& member : value) RemoveNullsInLists(member, is_in_list || value.is_array());
}

}  // namespace

json DecodePatch(const ServerRequest& request) {
  constexpr std::size_t kMaxOperations = 10'000;
  json patch;
  try {
    patch = ParseJsonOrYaml(request.body, request.content_type);
  } catch (const std::invalid_argument& error) {
    throw BadRequest(std::string("error decoding patch: ") + error.what());
  }
  const auto type_error = [](const json& value, const std::string& type) {
    return BadRequest(
        fmt::format("error decoding patch: json: cannot unmarshal {} into Go value of type {}",
                    GoJsonType(value), type));
  };
  if (request.media_type() != "application/json-patch+json") {
    if (patch.is_null()) throw BadRequest("Invalid JSON Patch");
    if (!patch.is_object()) throw type_error(patch, "map[string]interface {}");
    RemoveNullsInLists(patch);
    return patch;
  }
  if (!patch.is_array()) throw type_error(patch, "[]handlers.jsonPatchOp");
  if (patch.size() > kMaxOperations) {
    throw TooLarge(fmt::format("The allowed maximum operations in a JSON patch is {}, got {}",
                               kMaxOperations, patch.size()));
  }
  for (const json& operation : patch) {
    if (!operation.is_object()) throw type_error(operation, "handlers.jsonPatchOp");
  }
  return patch;
}

std::vector<std::string> FindStrictPatchErrors(const ServerRequest& request,
                                               const Resource& resource,
                                               const WriteOptions& options) {
  std::vector<std::string> errors;
  const json patch = ParseJsonOrYaml(request.body, request.content_type);
  if (patch.is_object()) {
    errors = FindDuplicateFields(request.body, resource);
  } else {
    for (std::size_t i = 0; i < patch.size(); ++i) {
      for (const auto& [name, value] : patch[i].items()) {
        if (name == "op" || name == "path" || name == "from" || name == "value") continue;
        errors.push_back(fmt::format(R"(json patch unknown field "[{}].{}")", i, name));
      }
    }
  }
  Warnings warnings;
  try {
    ReportDecodingErrors(errors, options, warnings);
  } catch (const std::invalid_argument& error) {
    throw Invalid(Resource(), "",
                  {InvalidValue("patch", ReplaceInvalidText(request.body), error.what())});
  }
  return warnings;
}

json ApplyPatch(const json& patch, json object) {
  if (patch.is_object()) {
    object.merge_patch(patch);
    return object;
  }
  try {
    return ApplyJsonPatch(std::move(object), patch);
  } catch (const std::invalid_argument&) {
    throw StatusError(422, "Invalid",
                      "the server rejected our request due to an error in our request",
                      json::object());
  }
}

json ApplyStrategicMergePatchBody(const ServerRequest& request, const Resource& resource,
                                  const WriteOptions& options, json object, Warnings& warnings) {
  json patch = DecodeStrategicMergePatch(request);
  object = ApplyStrategicMergePatch(std::move(object), patch, *resource.schema);
  return DecodeMergedObject(std::move(object), resource, options, warnings, FormatGoValue(patch),
                            FindDuplicateFields(request.body, resource));
}

}  // namespace kopp::apiserver
