#include "api/write_options.hpp"

#include "api/request_body.hpp"
#include "api/status.hpp"
#include "schema/accessors.hpp"
#include "schema/parse.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using FieldValidation = WriteOptions::FieldValidation;

constexpr std::size_t kMaxFieldManager = 128;

/// Returns the resource that error messages about options name.
Resource OptionsResource(const std::string& kind) {
  Resource resource;
  resource.group = "meta.k8s.io";
  resource.kind = kind;
  return resource;
}

void CheckFieldManager(const ServerRequest& request, const Resource& options) {
  const std::string name = request.target.query.Get("fieldManager");
  FieldErrors errors;
  if (name.size() > kMaxFieldManager) errors.push_back(TooLong("fieldManager", kMaxFieldManager));
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (static_cast<unsigned char>(name[i]) >= 0x20 && name[i] != 0x7f) continue;
    errors.push_back(InvalidValue("fieldManager", name,
                                  fmt::format("invalid character U+{:04X} (at position {})",
                                              static_cast<unsigned char>(name[i]), i)));
    break;
  }
  if (!errors.empty()) throw Invalid(options, "", errors);
}

bool ParseDryRun(const std::vector<std::string>& values, const Resource& options) {
  if (values.empty()) return false;
  const bool is_valid =
      std::all_of(values.begin(), values.end(), [](const auto& value) { return value == "All"; });
  if (!is_valid) throw Invalid(options, "", {NotSupported("dryRun", values, {"All"})});
  return true;
}

/// Validates the propagation policy. `orphan` is orphanDependents, a deprecated form of it.
void SetPropagation(DeleteOptions& parsed, const json& orphan, const Resource& options) {
  const std::string& policy = parsed.propagation;
  if (!orphan.is_null() && !policy.empty()) {
    throw Invalid(options, "",
                  {InvalidValue("propagationPolicy", policy,
                                "orphanDependents and deletionPropagation cannot be both set")});
  }
  if (!policy.empty() && policy != "Foreground" && policy != "Background" && policy != "Orphan") {
    throw Invalid(
        options, "",
        {NotSupported("propagationPolicy", policy, {"Foreground", "Background", "Orphan", "nil"})});
  }
  if (!orphan.is_null()) parsed.propagation = orphan == true ? "Orphan" : "Background";
}

DeleteOptions FromQuery(const Query& query, const Resource& options) {
  DeleteOptions parsed;
  parsed.dry_run = ParseDryRun(query.All("dryRun"), options);
  parsed.propagation = query.Get("propagationPolicy");
  const bool has_orphan = query.Has("orphanDependents");
  SetPropagation(parsed, has_orphan ? json(query.IsTrue("orphanDependents")) : json(), options);
  if (query.Has("gracePeriodSeconds")) parsed.grace_period = query.Integer("gracePeriodSeconds");
  return parsed;
}

DeleteOptions FromBody(const json& body, const Resource& options) {
  DeleteOptions parsed;
  std::vector<std::string> dry_run;
  for (const json& value : Field(body, "dryRun")) {
    dry_run.push_back(value.is_string() ? value.get<std::string>() : "");
  }
  parsed.dry_run = ParseDryRun(dry_run, options);
  const json& preconditions = Field(body, "preconditions");
  parsed.uid = StringField(preconditions, "uid");
  parsed.resource_version = StringField(preconditions, "resourceVersion");
  parsed.propagation = StringField(body, "propagationPolicy");
  SetPropagation(parsed, Field(body, "orphanDependents"), options);
  const json& grace = Field(body, "gracePeriodSeconds");
  if (grace.is_number_integer()) parsed.grace_period = grace.get<std::int64_t>();
  return parsed;
}

/// Parses a DeleteOptions object.
json ParseBody(const ServerRequest& request) {
  json body;
  try {
    body = ParseJsonOrYaml(request.body, request.content_type);
  } catch (const std::invalid_argument& error) {
    throw StatusError(500, "",
                      std::string("couldn't get version/kind; json parse error: ") + error.what());
  }
  if (!body.is_object())
    throw BadRequest("the body of a delete request must be an object of kind DeleteOptions");
  const std::string kind = StringField(body, "kind");
  if (kind.empty() || kind == "DeleteOptions") return body;
  throw StatusError(500, "",
                    fmt::format(R"(no kind "{}" is registered for version "{}" in scheme)", kind,
                                StringField(body, "apiVersion")));
}

}  // namespace

WriteOptions ReadWriteOptions(const ServerRequest& request, const std::string& kind) {
  const Resource options = OptionsResource(kind);
  const Query& query = request.target.query;
  WriteOptions parsed;
  parsed.dry_run = ParseDryRun(query.All("dryRun"), options);
  parsed.force = query.IsTrue("force");
  CheckFieldManager(request, options);
  const std::string field_validation = query.Get("fieldValidation");
  if (field_validation == "Ignore") {
    parsed.field_validation = FieldValidation::kIgnore;
  } else if (field_validation == "Strict") {
    parsed.field_validation = FieldValidation::kStrict;
  } else if (!field_validation.empty() && field_validation != "Warn") {
    throw Invalid(
        options, "",
        {NotSupported("fieldValidation", field_validation, {"", "Ignore", "Strict", "Warn"})});
  }
  return parsed;
}

void RejectForce(const ServerRequest& request) {
  if (!request.target.query.Has("force")) return;
  throw Invalid(OptionsResource("PatchOptions"), "",
                {ForbiddenField("force", "may not be specified for non-apply patch")});
}

void RequireFieldManager(const ServerRequest& request) {
  if (!request.target.query.Get("fieldManager").empty()) return;
  throw Invalid(OptionsResource("PatchOptions"), "",
                {Required("fieldManager", "is required for apply patch")});
}

DeleteOptions ReadDeleteOptions(const ServerRequest& request) {
  CheckBodySize(request);
  const Resource options = OptionsResource("DeleteOptions");
  if (request.body.empty()) return FromQuery(request.target.query, options);
  CheckMediaType(request, options);
  return FromBody(ParseBody(request), options);
}

DeleteOptions ParseDeleteOptions(const json& body) {
  return FromBody(body, OptionsResource("DeleteOptions"));
}

}  // namespace kopp::apiserver
