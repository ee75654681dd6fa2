#include "body.hpp"

#include "custom_values.hpp"
#include "decode.hpp"
#include "field_problems.hpp"
#include "fit_to_types.hpp"
#include "said.hpp"
#include "status.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Strictness = WriteOptions::Strictness;

std::string TypeOf(const Resource& resource) {
  return resource.kind + " in version \"" + resource.version + "\" cannot be handled as a " +
         resource.kind + ": ";
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
                       problem + "json: cannot unmarshal " + GoKindOf(object) +
                           " into Go value of type struct { APIVersion string "
                           "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                           "\"json:\\\"kind,omitempty\\\"\" }",
                       true);
  }
  for (const char* name : {"kind", "apiVersion"}) {
    const json& value = object.value(name, json());
    if (value.is_null() || value.is_string()) continue;
    throw Unrecognized(ask, resource,
                       problem + "json: cannot unmarshal " + GoKindOf(value) +
                           " into Go struct field ." + name + " of type string",
                       false);
  }
  return object;
}

/// A custom resource names its kind and version.
void CheckCustomKind(const Ask& ask, const Resource& resource, const json& object) {
  const std::string kind = SaidText(object, "kind");
  if (kind.empty()) {
    throw Unrecognized(ask, resource, "Object 'Kind' is missing in '" + ask.body + '\'', false);
  }
  if (SaidText(object, "apiVersion") != resource.api_version()) {
    throw BadRequest("the API version in the data (" + SaidText(object, "apiVersion") +
                     ") does not match the expected API version (" + resource.api_version() + ')');
  }
}

/// A custom resource is of the kind and version of its path; the real server looks at the object
/// that was sent, or that a patch has made.
void CheckIdentity(const Resource& resource, const json& object) {
  Resource named = resource;
  named.kind = SaidText(object, "kind");
  const std::string api_version = SaidText(object, "apiVersion");
  named.group = api_version.substr(0, api_version.find('/'));
  const std::string name = SaidText(object.value("metadata", json::object()), "name");
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
  const std::string kind = SaidText(object, "kind");
  const std::string api_version = SaidText(object, "apiVersion");
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

/// What a patch has made is still of its kind; CheckIdentity has the rest, of custom resources.
void CheckKindOfPatched(const json& object, const std::string& text, const Resource& resource) {
  const std::string kind = SaidText(object, "kind");
  const std::string version = SaidText(object, "apiVersion");
  const auto wrong = [&](const std::string& why) {
    return Invalid(Resource(), "", {InvalidValue("patch", text, why)});
  };
  if (!resource.built_in) {
    if (kind.empty()) throw wrong("Object 'Kind' is missing in '" + text + '\'');
    return;
  }
  if (version.empty()) {
    throw BadRequest("the name of the object (" + SaidText(Said(object, "metadata"), "name") +
                     " based on URL) was undeterminable: name must be provided");
  }
  if ((kind.empty() || kind == resource.kind) && version == resource.api_version()) return;
  throw wrong("no kind \"" + kind + "\" is registered for version \"" + version +
              "\" in scheme \"pkg/runtime/scheme.go:110\"");
}

}  // namespace

Refusal TooLarge(const std::string& why) {
  return {413, "RequestEntityTooLarge", "Request entity too large: " + why, json::object()};
}

Refusal BodyTooLarge() { return TooLarge("limit is " + std::to_string(kMaxBody)); }

void BoundBody(const Ask& ask) {
  if (ask.body.size() > kMaxBody) throw BodyTooLarge();
}

void Report(const std::vector<std::string>& problems, const WriteOptions& options,
            Warnings& warnings) {
  if (problems.empty() || options.strictness == Strictness::kIgnore) return;
  if (options.strictness == Strictness::kWarn) {
    warnings.insert(warnings.end(), problems.begin(), problems.end());
    return;
  }
  std::string all;
  for (const std::string& problem : problems) all += (all.empty() ? "" : ", ") + problem;
  throw std::invalid_argument("strict decoding error: " + all);
}

void CheckMediaType(const Ask& ask) {
  const std::string type = MediaTypeOf(ask);
  if (type.empty() || type == "application/json" || type == "application/yaml") return;
  if (type == "application/vnd.kubernetes.protobuf") {
    throw Refusal(
        415, "UnsupportedMediaType",
        "this API server reads no protobuf: send JSON or YAML, as kubectl create -f does");
  }
  throw Refusal(415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: "
                "application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

json ReadObject(const Ask& ask, const Resource& resource, const WriteOptions& options,
                Warnings& warnings) {
  BoundBody(ask);
  json object = ReadJson(ask, resource);
  CheckKind(ask, resource, object);
  try {
    const bool is_yaml = ask.content_type.find("yaml") != std::string::npos;
    std::vector<std::string> problems =
        FieldProblems(is_yaml ? object.dump() : ask.body, *resource.schema);
    json fitted = Fitted(std::move(object), resource, problems);
    Report(problems, options, warnings);
    return fitted;
  } catch (const std::invalid_argument& error) {
    throw BadRequest(TypeOf(resource) + error.what());
  }
}

json ReadPatched(json object, const Resource& resource, const WriteOptions& options,
                 Warnings& warnings) {
  const std::string text = object.dump();
  CheckKindOfPatched(object, text, resource);
  try {
    std::vector<std::string> problems = FieldProblems(text, *resource.schema);
    json fitted = Fitted(std::move(object), resource, problems);
    Report(problems, options, warnings);
    return fitted;
  } catch (const std::invalid_argument& error) {
    throw Invalid(Resource(), "", {InvalidValue("patch", text, error.what())});
  }
}

}  // namespace kopp::apiserver
