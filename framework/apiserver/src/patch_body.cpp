#include "patch_body.hpp"

#include "body.hpp"
#include "decode.hpp"
#include "field_problems.hpp"
#include "json_patch.hpp"
#include "status.hpp"

#include <stdexcept>
#include <utility>

namespace kopp::apiserver {

using nlohmann::json;

json ReadPatch(const Ask& ask) {
  constexpr std::size_t kMaxOperations = 10'000;
  BoundBody(ask);
  json patch;
  try {
    patch = Parse(ask.body, ask.content_type);
  } catch (const std::invalid_argument& error) {
    throw BadRequest(std::string("error decoding patch: ") + error.what());
  }
  const auto refuse = [](const json& value, const std::string& type) {
    return BadRequest(std::string("error decoding patch: json: cannot unmarshal ") +
                      GoKindOf(value) + " into Go value of type " + type);
  };
  if (MediaTypeOf(ask) != "application/json-patch+json") {
    if (patch.is_null()) throw BadRequest("Invalid JSON Patch");
    if (!patch.is_object()) throw refuse(patch, "map[string]interface {}");
    return patch;
  }
  if (!patch.is_array()) throw refuse(patch, "[]handlers.jsonPatchOp");
  if (patch.size() > kMaxOperations) {
    throw TooLarge("The allowed maximum operations in a JSON patch is " +
                   std::to_string(kMaxOperations) + ", got " + std::to_string(patch.size()));
  }
  for (const json& operation : patch) {
    if (!operation.is_object()) throw refuse(operation, "handlers.jsonPatchOp");
  }
  return patch;
}

std::vector<std::string> PatchProblems(const Ask& ask, const Resource& resource,
                                       const WriteOptions& options) {
  std::vector<std::string> problems;
  const json patch = json::parse(ask.body);
  if (patch.is_object()) {
    for (std::string& problem : FieldProblems(ask.body, *resource.schema)) {
      if (problem.starts_with("duplicate")) problems.push_back(std::move(problem));
    }
  } else {
    for (std::size_t i = 0; i < patch.size(); ++i) {
      for (const auto& [name, value] : patch[i].items()) {
        if (name == "op" || name == "path" || name == "from" || name == "value") continue;
        problems.push_back("json patch unknown field \"[" + std::to_string(i) + "]." + name + '"');
      }
    }
  }
  Warnings warnings;
  try {
    Report(problems, options, warnings);
  } catch (const std::invalid_argument& error) {
    throw Invalid(Resource(), "", {InvalidValue("patch", ask.body, error.what())});
  }
  return warnings;
}

json Patched(const json& patch, json object) {
  if (patch.is_object()) {
    object.merge_patch(patch);
    return object;
  }
  try {
    return JsonPatched(std::move(object), patch);
  } catch (const std::invalid_argument&) {
    throw Refusal(422, "Invalid", "the server rejected our request due to an error in our request",
                  json::object());
  }
}

}  // namespace kopp::apiserver
