#include "body.hpp"

#include "custom_values.hpp"
#include "decode.hpp"
#include "status.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Strictness = WriteOptions::Strictness;

constexpr std::size_t kMaxBody = 3 << 20;
constexpr std::size_t kMaxManager = 128;

/// What options belong to, in errors about them.
Resource OptionsNamed(const std::string& kind) {
  Resource resource;
  resource.group = "meta.k8s.io";
  resource.kind = kind;
  return resource;
}

std::string TypeOf(const Resource& resource) {
  return resource.kind + " in version \"" + resource.version + "\" cannot be handled as a " +
         resource.kind + ": ";
}

Refusal TooLarge(const std::string& why) {
  return {413, "RequestEntityTooLarge", "Request entity too large: " + why, json::object()};
}

void BoundBody(const Ask& ask) {
  if (ask.body.size() > kMaxBody) throw TooLarge("limit is " + std::to_string(kMaxBody));
}

bool IsMedia(const std::string& type, std::string_view name) {
  return type.substr(0, type.find(';')) == name;
}

/// What the real server shows of a body that it cannot read.
std::string Cited(const std::string& body, bool as_bytes) {
  constexpr std::size_t kShown = 30;
  if (body.empty()) return " (<empty>)";
  std::string shown = body.substr(0, kShown);
  if (as_bytes) {
    std::string hex;
    for (const char c : shown) {
      std::array<char, 3> digits{};
      std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned char>(c));
      hex += digits.data();
    }
    shown = std::move(hex);
  }
  return " (" + shown + (body.size() > kShown ? " ...)" : ")");
}

Refusal Unrecognized(const Ask& ask, const Resource& resource, const std::string& why,
                     bool as_bytes) {
  return BadRequest("the object provided is unrecognized (must be of type " + resource.kind +
                    "): " + why + Cited(ask.body, as_bytes));
}

const char* KindOf(const json& value) {
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "bool";
  return value.is_object() ? "object" : "number";
}

json ReadJson(const Ask& ask, const Resource& resource) {
  const std::string problem = "couldn't get version/kind; json parse error: ";
  json object;
  try {
    object = Parse(ask.body, ask.content_type);
  } catch (const std::invalid_argument& error) {
    throw Unrecognized(ask, resource, problem + error.what(), false);
  }
  if (!object.is_object()) {
    throw Unrecognized(ask, resource,
                       problem + "json: cannot unmarshal " + KindOf(object) +
                           " into Go value of type struct { APIVersion string "
                           "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                           "\"json:\\\"kind,omitempty\\\"\" }",
                       true);
  }
  for (const char* name : {"kind", "apiVersion"}) {
    const json& value = object.value(name, json());
    if (value.is_null() || value.is_string()) continue;
    throw Unrecognized(ask, resource,
                       problem + "json: cannot unmarshal " + KindOf(value) +
                           " into Go struct field ." + name + " of type string",
                       false);
  }
  return object;
}

std::string Text(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// A custom resource names its kind and version.
void CheckCustomKind(const Ask& ask, const Resource& resource, const json& object) {
  const std::string kind = Text(object, "kind");
  if (kind.empty()) {
    throw Unrecognized(ask, resource, "Object 'Kind' is missing in '" + ask.body + '\'', false);
  }
  if (Text(object, "apiVersion") != resource.api_version()) {
    throw BadRequest("the API version in the data (" + Text(object, "apiVersion") +
                     ") does not match the expected API version (" + resource.api_version() + ')');
  }
}

/// A patch changes neither; the real server finds that in the object that is made. What is made by
/// an apply has neither.
void CheckIdentity(const Resource& resource, const json& object) {
  if (!object.contains("kind") && !object.contains("apiVersion")) return;
  Resource named = resource;
  named.kind = Text(object, "kind");
  const std::string api_version = Text(object, "apiVersion");
  named.group = api_version.substr(0, api_version.find('/'));
  const std::string name = Text(object.value("metadata", json::object()), "name");
  if (api_version != resource.api_version()) {
    throw Invalid(named, name,
                  {InvalidValue("apiVersion", api_version, "must be " + resource.api_version())});
  }
  if (named.kind != resource.kind) {
    throw Invalid(named, name, {InvalidValue("kind", named.kind, "must be " + resource.kind)});
  }
}

/// A body may leave out its kind and version; it may not name others.
void CheckKind(const Ask& ask, const Resource& resource, const json& object) {
  if (!resource.built_in) return CheckCustomKind(ask, resource, object);
  const std::string kind = Text(object, "kind");
  const std::string api_version = Text(object, "apiVersion");
  const auto cannot = [&](const std::string& version, const std::string& why) {
    return BadRequest(kind + " in version \"" + version + "\" cannot be handled as a " +
                      resource.kind + ": " + why);
  };
  if (std::count(api_version.begin(), api_version.end(), '/') > 1) {
    throw Unrecognized(ask, resource, "unexpected GroupVersion string: " + api_version, false);
  }
  const bool same_kind = kind.empty() || kind == resource.kind;
  const bool same_version = api_version.empty() || api_version == resource.api_version();
  if (same_kind && same_version) return;
  const std::string version = api_version.substr(api_version.find('/') + 1);
  throw cannot(version, "no kind \"" + kind + "\" is registered for version \"" + api_version +
                            "\" in scheme");
}

void Report(const std::vector<std::string>& problems, const WriteOptions& options,
            std::vector<std::string>& warnings, const std::string& refusal_begins) {
  if (problems.empty() || options.strictness == Strictness::kIgnore) return;
  if (options.strictness == Strictness::kWarn) {
    warnings.insert(warnings.end(), problems.begin(), problems.end());
    return;
  }
  std::string all;
  for (const std::string& problem : problems) all += (all.empty() ? "" : ", ") + problem;
  throw std::invalid_argument(refusal_begins + "strict decoding error: " + all);
}

/// An empty list of owners is a wish, and would be lost as an empty list.
void KeepTheWishForNoOwners(json& object) {
  const json::json_pointer at("/metadata/managedFields");
  if (object.contains(at) && object[at] == json::array()) object[at].push_back(json::object());
}

/// `problems` are those of the text; those of a custom resource's fields follow.
json Fitted(json object, const Resource& resource, std::vector<std::string>& problems) {
  KeepTheWishForNoOwners(object);
  if (resource.built_in) {
    FitToTypes(object, *resource.schema);
  } else {
    std::erase_if(problems, [](const std::string& each) { return each.starts_with("unknown"); });
    for (const std::string& path : FitToSchema(object, *resource.schema)) {
      problems.push_back("unknown field \"" + path + '"');
    }
    CheckIdentity(resource, object);
  }
  object.erase("kind");
  object.erase("apiVersion");
  return object;
}

void CheckManager(const Ask& ask, const Resource& options) {
  const std::string name = ask.target.query.Get("fieldManager");
  Causes causes;
  if (name.size() > kMaxManager) causes.push_back(TooLong("fieldManager", kMaxManager));
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (static_cast<unsigned char>(name[i]) >= 0x20 && name[i] != 0x7f) continue;
    std::array<char, 64> why{};
    std::snprintf(why.data(), why.size(), "invalid character U+%04X (at position %zu)",
                  static_cast<unsigned char>(name[i]), i);
    causes.push_back(InvalidValue("fieldManager", name, why.data()));
    break;
  }
  if (!causes.empty()) throw Invalid(options, "", causes);
}

bool ReadDryRun(const std::vector<std::string>& values, const Resource& options) {
  if (values.empty()) return false;
  const bool all_are_known =
      std::all_of(values.begin(), values.end(), [](const auto& each) { return each == "All"; });
  if (!all_are_known) throw Invalid(options, "", {NotSupported("dryRun", values, {"All"})});
  return true;
}

/// `orphan`: orphanDependents, the old name of the two ways.
void SetPropagation(DeleteOptions& read, const json& orphan, const Resource& options) {
  const std::string& way = read.propagation;
  if (!orphan.is_null() && !way.empty()) {
    throw Invalid(options, "",
                  {InvalidValue("propagationPolicy", way,
                                "orphanDependents and deletionPropagation cannot be both set")});
  }
  if (!way.empty() && way != "Foreground" && way != "Background" && way != "Orphan") {
    throw Invalid(
        options, "",
        {NotSupported("propagationPolicy", way, {"Foreground", "Background", "Orphan", "nil"})});
  }
  if (!orphan.is_null()) read.propagation = orphan == true ? "Orphan" : "Background";
}

DeleteOptions FromQuery(const Query& query, const Resource& options) {
  DeleteOptions read;
  read.dry_run = ReadDryRun(query.All("dryRun"), options);
  read.propagation = query.Get("propagationPolicy");
  const bool has_orphan = query.Has("orphanDependents");
  SetPropagation(read, has_orphan ? json(query.IsTrue("orphanDependents")) : json(), options);
  if (!query.Has("gracePeriodSeconds")) return read;
  const std::string text = query.Get("gracePeriodSeconds");
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw BadRequest("strconv.ParseInt: parsing \"" + text + "\": invalid syntax");
  }
  read.grace_period = seconds;
  return read;
}

DeleteOptions FromBody(const json& body, const Resource& options) {
  DeleteOptions read;
  std::vector<std::string> dry_run;
  for (const json& each : body.value("dryRun", json::array())) {
    dry_run.push_back(each.is_string() ? each.get<std::string>() : "");
  }
  read.dry_run = ReadDryRun(dry_run, options);
  const json preconditions = body.value("preconditions", json::object());
  read.uid = Text(preconditions, "uid");
  read.resource_version = Text(preconditions, "resourceVersion");
  read.propagation = Text(body, "propagationPolicy");
  SetPropagation(read, body.value("orphanDependents", json()), options);
  const json grace = body.value("gracePeriodSeconds", json());
  if (grace.is_number_integer()) read.grace_period = grace.get<std::int64_t>();
  return read;
}

}  // namespace

void CheckMediaType(const Ask& ask) {
  const std::string& type = ask.content_type;
  if (type.empty() || IsMedia(type, "application/json") || IsMedia(type, "application/yaml"))
    return;
  throw Refusal(415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: "
                "application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

WriteOptions ReadWriteOptions(const Ask& ask, const std::string& kind) {
  const Resource options = OptionsNamed(kind);
  const Query& query = ask.target.query;
  WriteOptions read;
  read.dry_run = ReadDryRun(query.All("dryRun"), options);
  read.force = query.IsTrue("force");
  CheckManager(ask, options);
  const std::string strictness = query.Get("fieldValidation");
  if (strictness == "Ignore") {
    read.strictness = Strictness::kIgnore;
  } else if (strictness == "Strict") {
    read.strictness = Strictness::kStrict;
  } else if (!strictness.empty() && strictness != "Warn") {
    throw Invalid(options, "",
                  {NotSupported("fieldValidation", strictness, {"", "Ignore", "Strict", "Warn"})});
  }
  return read;
}

json ReadObject(const Ask& ask, const Resource& resource, const WriteOptions& options,
                std::vector<std::string>& warnings) {
  BoundBody(ask);
  json object = ReadJson(ask, resource);
  CheckKind(ask, resource, object);
  try {
    const bool is_yaml = ask.content_type.find("yaml") != std::string::npos;
    std::vector<std::string> problems =
        FieldProblems(is_yaml ? object.dump() : ask.body, *resource.schema);
    json fitted = Fitted(std::move(object), resource, problems);
    Report(problems, options, warnings, "");
    return fitted;
  } catch (const std::invalid_argument& error) {
    throw BadRequest(TypeOf(resource) + error.what());
  }
}

json ReadPatched(json object, const Resource& resource, const WriteOptions& options,
                 std::vector<std::string>& warnings) {
  const std::string text = object.dump();
  try {
    std::vector<std::string> problems = FieldProblems(text, *resource.schema);
    json fitted = Fitted(std::move(object), resource, problems);
    Report(problems, options, warnings, "");
    return fitted;
  } catch (const std::invalid_argument& error) {
    throw Invalid(Resource(), "", {InvalidValue("patch", text, error.what())});
  }
}

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
    return BadRequest(std::string("error decoding patch: json: cannot unmarshal ") + KindOf(value) +
                      " into Go value of type " + type);
  };
  if (!IsMedia(ask.content_type, "application/json-patch+json")) {
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
  std::vector<std::string> warnings;
  try {
    Report(problems, options, warnings, "");
  } catch (const std::invalid_argument& error) {
    throw Invalid(Resource(), "", {InvalidValue("patch", ask.body, error.what())});
  }
  return warnings;
}

void RefuseForce(const Ask& ask) {
  if (!ask.target.query.Has("force")) return;
  throw Invalid(OptionsNamed("PatchOptions"), "",
                {ForbiddenField("force", "may not be specified for non-apply patch")});
}

DeleteOptions ReadDeleteOptions(const Ask& ask) {
  BoundBody(ask);
  const Resource options = OptionsNamed("DeleteOptions");
  const Query& query = ask.target.query;
  json body = json::object();
  if (!ask.body.empty()) {
    try {
      body = Parse(ask.body, ask.content_type);
    } catch (const std::invalid_argument& error) {
      throw Refusal(500, "",
                    std::string("couldn't get version/kind; json parse error: ") + error.what());
    }
    if (!body.is_object()) throw BadRequest("the body of a deletion is an object: DeleteOptions");
    const std::string kind = Text(body, "kind");
    if (!kind.empty() && kind != "DeleteOptions") {
      throw Refusal(500, "",
                    "no kind \"" + kind + "\" is registered for version \"" +
                        Text(body, "apiVersion") + "\" in scheme");
    }
  }
  return ask.body.empty() ? FromQuery(query, options) : FromBody(body, options);
}

}  // namespace kopp::apiserver
