#include "api/write_options.hpp"

#include "api/content_type.hpp"
#include "api/status.hpp"
#include "api/type_meta.hpp"
#include "json/parse.hpp"
#include "schema/accessors.hpp"
#include "schema/utf8.hpp"

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

/// The same for the options of a create, an update or a patch.
Resource OptionsResourceOf(std::string_view method) {
  if (method == "POST") return OptionsResource("CreateOptions");
  return OptionsResource(method == "PUT" ? "UpdateOptions" : "PatchOptions");
}

/// Checks the parameters whose use depends on the type of a patch.
void CheckPatchOptions(const ServerRequest& request, FieldErrors& errors) {
  const bool is_apply = request.media_type() == kApplyPatch;
  if (is_apply && request.target.query.Get("fieldManager").empty())
    errors.push_back(Required("fieldManager", "is required for apply patch"));
  if (!is_apply && request.target.query.Has("force"))
    errors.push_back(ForbiddenField("force", "may not be specified for non-apply patch"));
}

void CheckFieldManager(const std::string& name, FieldErrors& errors) {
  if (name.size() > kMaxFieldManager) errors.push_back(TooLong("fieldManager", kMaxFieldManager));
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (static_cast<unsigned char>(name[i]) >= 0x20 && name[i] != 0x7f) continue;
    errors.push_back(InvalidValue("fieldManager", name,
                                  fmt::format("invalid character U+{:04X} (at position {})",
                                              static_cast<unsigned char>(name[i]), i)));
    return;
  }
}

/// Returns the field manager of a request without the parameter fieldManager.
std::string DefaultFieldManager(const std::string& user_agent) {
  const std::string product = user_agent.substr(0, user_agent.find('/'));
  return product.empty() ? "unknown" : ToValidUtf8(product);
}

bool ParseDryRun(const std::vector<std::string>& values, FieldErrors& errors) {
  const auto is_valid = [](const std::string& value) { return value == "All"; };
  if (!std::all_of(values.begin(), values.end(), is_valid))
    errors.push_back(NotSupported("dryRun", values, {"All"}));
  return !values.empty();
}

/// Returns nullopt for a value that is not supported.
std::optional<FieldValidation> ParseFieldValidation(const std::string& value) {
  if (value == "Ignore") return FieldValidation::kIgnore;
  if (value == "Strict") return FieldValidation::kStrict;
  if (value.empty() || value == "Warn") return FieldValidation::kWarn;
  return std::nullopt;
}

/// Throws if there are errors in DeleteOptions.
void ThrowIfInvalid(const FieldErrors& errors) {
  if (!errors.empty()) throw Invalid(OptionsResource("DeleteOptions"), "", errors);
}

/// Validates and sets the propagation policy. `orphan` is orphanDependents, a deprecated form of
/// it.
void SetPropagation(DeleteOptions& parsed, const std::string& policy, const json& orphan,
                    FieldErrors& errors) {
  if (!orphan.is_null() && !policy.empty()) {
    errors.push_back(InvalidValue("propagationPolicy", policy,
                                  "orphanDependents and deletionPropagation cannot be both set"));
  }
  if (!policy.empty() && policy != "Foreground" && policy != "Background" && policy != "Orphan") {
    errors.push_back(
        NotSupported("propagationPolicy", policy, {"Foreground", "Background", "Orphan", "nil"}));
  }
  parsed.propagation = orphan.is_null() ? policy : orphan == true ? "Orphan" : "Background";
}

DeleteOptions FromQuery(const Query& query) {
  DeleteOptions parsed;
  FieldErrors errors;
  const bool has_orphan = query.Has("orphanDependents");
  SetPropagation(parsed, query.Get("propagationPolicy"),
                 has_orphan ? json(query.IsTrue("orphanDependents")) : json(), errors);
  parsed.dry_run = ParseDryRun(query.All("dryRun"), errors);
  ThrowIfInvalid(errors);
  if (query.Has("gracePeriodSeconds")) parsed.grace_period = query.Integer("gracePeriodSeconds");
  return parsed;
}

DeleteOptions FromBody(const json& body) {
  DeleteOptions parsed;
  FieldErrors errors;
  SetPropagation(parsed, StringField(body, "propagationPolicy"), Field(body, "orphanDependents"),
                 errors);
  std::vector<std::string> dry_run;
  for (const json& value : Field(body, "dryRun")) {
    dry_run.push_back(value.is_string() ? value.get<std::string>() : "");
  }
  parsed.dry_run = ParseDryRun(dry_run, errors);
  ThrowIfInvalid(errors);
  const json& preconditions = Field(body, "preconditions");
  parsed.uid = StringField(preconditions, "uid");
  parsed.resource_version = StringField(preconditions, "resourceVersion");
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
    throw StatusError(500, "", std::string(kJsonErrorPrefix) + error.what());
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

WriteOptions ReadWriteOptions(const ServerRequest& request) {
  const Query& query = request.target.query;
  const std::string manager = query.Get("fieldManager");
  const std::string validation = query.Get("fieldValidation");
  const auto field_validation = ParseFieldValidation(validation);
  WriteOptions parsed{
      .field_validation = field_validation.value_or(FieldValidation::kWarn),
      .force = query.IsTrue("force"),
      .field_manager = manager.empty() ? DefaultFieldManager(request.user_agent) : manager};
  const Resource resource = OptionsResourceOf(request.method);
  FieldErrors errors;
  if (request.method == "PATCH") CheckPatchOptions(request, errors);
  CheckFieldManager(manager, errors);
  parsed.dry_run = ParseDryRun(query.All("dryRun"), errors);
  if (!field_validation) {
    errors.push_back(NotSupported("fieldValidation", validation, {"", "Ignore", "Strict", "Warn"}));
  }
  if (!errors.empty()) throw Invalid(resource, "", errors);
  return parsed;
}

DeleteOptions ReadDeleteOptions(const ServerRequest& request) {
  if (request.body.empty()) return FromQuery(request.target.query);
  CheckMediaType(request, OptionsResource("DeleteOptions"));
  return FromBody(ParseBody(request));
}

DeleteOptions ParseDeleteOptions(const json& body) { return FromBody(body); }

}  // namespace kopp::apiserver
