#include "api/patch_body.hpp"

#include "api/body_size.hpp"
#include "api/json_patch.hpp"
#include "api/request_body.hpp"
#include "api/status.hpp"
#include "json/decode.hpp"
#include "schema/strict_decoding.hpp"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace kopp::apiserver {

using nlohmann::json;

json DecodePatch(const ServerRequest& request) {
  constexpr std::size_t kMaxOperations = 10'000;
  CheckBodySize(request);
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
  const json patch = json::parse(request.body);
  if (patch.is_object()) {
    for (std::string& error : FindStrictDecodingErrors(request.body, *resource.schema)) {
      if (error.starts_with("duplicate")) errors.push_back(std::move(error));
    }
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
    throw Invalid(Resource(), "", {InvalidValue("patch", request.body, error.what())});
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

}  // namespace kopp::apiserver
