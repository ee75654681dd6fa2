#include "api/request_body.hpp"

#include "api/status.hpp"
#include "decoding/object_decoding.hpp"
#include "schema/accessors.hpp"
#include "schema/go_quoted.hpp"
#include "schema/parse.hpp"
#include "schema/pruning.hpp"
#include "schema/typed_decoding.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using FieldValidation = WriteOptions::FieldValidation;

/// Returns the prefix of decoding errors, as in kube-apiserver.
std::string DecodingErrorPrefix(const Resource& resource) {
  return fmt::format(R"({} in version "{}" cannot be handled as a {}: )", resource.kind,
                     resource.version, resource.kind);
}

/// Returns the start of a body, as kube-apiserver quotes it in decoding errors.
std::string BodyExcerpt(const std::string& body, bool as_hex) {
  constexpr std::size_t kMaxExcerpt = 30;
  if (body.empty()) return " (<empty>)";
  std::string excerpt = body.substr(0, kMaxExcerpt);
  if (as_hex) {
    std::string hex;
    for (const char c : excerpt) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    excerpt = std::move(hex);
  }
  return " (" + excerpt + (body.size() > kMaxExcerpt ? " ...)" : ")");
}

/// Returns the error for a body that is not an object of the resource. `as_hex` formats the excerpt
/// of the body as kube-apiserver does for values that are not objects.
StatusError Unrecognized(const ServerRequest& request, const Resource& resource,
                         const std::string& reason, bool as_hex) {
  return BadRequest(fmt::format("the object provided is unrecognized (must be of type {}): {}{}",
                                resource.kind, reason, BodyExcerpt(request.body, as_hex)));
}

/// Parses the body and checks the types of kind and apiVersion.
json ParseObject(const ServerRequest& request, const Resource& resource) {
  const std::string prefix = "couldn't get version/kind; json parse error: ";
  json object;
  try {
    object = ParseJsonOrYaml(request.body, request.content_type);
  } catch (const std::invalid_argument& error) {
    throw Unrecognized(request, resource, prefix + error.what(), false);
  }
  if (!object.is_object()) {
    throw Unrecognized(request, resource,
                       prefix + "json: cannot unmarshal " + GoJsonType(object) +
                           " into Go value of type struct { APIVersion string "
                           "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                           "\"json:\\\"kind,omitempty\\\"\" }",
                       true);
  }
  for (const char* name : {"kind", "apiVersion"}) {
    const json& value = Field(object, name);
    if (value.is_null() || value.is_string()) continue;
    throw Unrecognized(
        request, resource,
        fmt::format("{}json: cannot unmarshal {} into Go struct field .{} of type string", prefix,
                    GoJsonType(value), name),
        false);
  }
  return object;
}

/// Returns the error for a body that could not be converted to JSON.
StatusError NotConverted(const ServerRequest& request, const Resource& resource,
                         const BodyError& error) {
  if (error.is_recognized) return BadRequest(DecodingErrorPrefix(resource) + error.reason);
  return Unrecognized(request, resource, error.reason, true);
}

/// Requires a kind, and the apiVersion of the resource, in the body of a custom resource.
void CheckCustomResourceTypeMeta(const ServerRequest& request, const Resource& resource,
                                 const json& object) {
  const std::string kind = StringField(object, "kind");
  if (kind.empty()) {
    throw Unrecognized(request, resource, "Object 'Kind' is missing in '" + request.body + '\'',
                       false);
  }
  if (StringField(object, "apiVersion") != resource.api_version()) {
    throw BadRequest(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    StringField(object, "apiVersion"), resource.api_version()));
  }
}

/// Requires that kind and apiVersion of a custom resource match the request path. Used for request
/// bodies and for the results of patches.
void CheckGroupVersionKind(const Resource& resource, const json& object) {
  Resource actual = resource;
  actual.kind = StringField(object, "kind");
  const std::string api_version = StringField(object, "apiVersion");
  actual.group = api_version.substr(0, api_version.find('/'));
  const std::string name = StringField(Field(object, "metadata"), "name");
  if (api_version != resource.api_version()) {
    throw Invalid(actual, name,
                  {InvalidValue("apiVersion", api_version, "must be " + resource.api_version())});
  }
  if (actual.kind != resource.kind) {
    throw Invalid(actual, name, {InvalidValue("kind", actual.kind, "must be " + resource.kind)});
  }
}

/// Requires that kind and apiVersion of a body, if present, match the resource.
void CheckTypeMeta(const ServerRequest& request, const Resource& resource, const json& object) {
  if (!resource.built_in) return CheckCustomResourceTypeMeta(request, resource, object);
  const std::string kind = StringField(object, "kind");
  const std::string api_version = StringField(object, "apiVersion");
  if (std::count(api_version.begin(), api_version.end(), '/') > 1) {
    throw Unrecognized(request, resource, "unexpected GroupVersion string: " + api_version, false);
  }
  const bool same_kind = kind.empty() || kind == resource.kind;
  const bool same_version = api_version.empty() || api_version == resource.api_version();
  if (same_kind && same_version) return;
  const std::string version = api_version.substr(api_version.find('/') + 1);
  throw BadRequest(fmt::format(R"({} in version "{}" cannot be handled as a {}: )"
                               R"(no kind "{}" is registered for version "{}" in scheme)",
                               kind, version, resource.kind, kind, api_version));
}

/// Replaces an empty managedFields list with [{}]. Both reset the managed fields, but decoding
/// drops an empty list.
void KeepEmptyManagedFields(json& object) {
  const json::json_pointer pointer("/metadata/managedFields");
  if (object.contains(pointer) && object[pointer] == json::array())
    object[pointer].push_back(json::object());
}

/// Decodes an object and removes kind and apiVersion. `errors` contains the errors of strict
/// decoding. For a custom resource, replaces the errors about unknown fields with those of pruning.
json Decode(json object, const Resource& resource, std::vector<std::string>& errors) {
  KeepEmptyManagedFields(object);
  if (resource.built_in) {
    DecodeTyped(object, *resource.schema);
  } else {
    std::erase_if(errors, [](const std::string& error) { return error.starts_with("unknown"); });
    for (const std::string& path : PruneAndDefault(object, *resource.schema)) {
      errors.push_back("unknown field " + GoQuoted(path));
    }
    CheckGroupVersionKind(resource, object);
  }
  object.erase("kind");
  object.erase("apiVersion");
  return object;
}

/// Requires that a patch of a built-in kind keeps kind and apiVersion. For a custom resource,
/// requires only that the kind is not empty; CheckGroupVersionKind() checks its value.
void CheckPatchedTypeMeta(const json& object, const std::string& text, const Resource& resource) {
  const std::string kind = StringField(object, "kind");
  const std::string version = StringField(object, "apiVersion");
  const auto invalid_patch = [&](const std::string& reason) {
    return Invalid(Resource(), "", {InvalidValue("patch", text, reason)});
  };
  if (!resource.built_in) {
    if (kind.empty()) throw invalid_patch("Object 'Kind' is missing in '" + text + '\'');
    return;
  }
  if (version.empty()) {
    throw BadRequest("the name of the object (" + StringField(Field(object, "metadata"), "name") +
                     " based on URL) was undeterminable: name must be provided");
  }
  if ((kind.empty() || kind == resource.kind) && version == resource.api_version()) return;
  // kube-apiserver includes the position of its scheme in the Go source.
  throw invalid_patch(fmt::format(
      R"(no kind "{}" is registered for version "{}" in scheme "pkg/runtime/scheme.go:110")", kind,
      version));
}

}  // namespace

void ReportDecodingErrors(const std::vector<std::string>& errors, const WriteOptions& options,
                          Warnings& warnings) {
  if (errors.empty() || options.field_validation == FieldValidation::kIgnore) return;
  if (options.field_validation == FieldValidation::kWarn) {
    warnings.insert(warnings.end(), errors.begin(), errors.end());
    return;
  }
  std::string all;
  for (const std::string& error : errors) all += (all.empty() ? "" : ", ") + error;
  throw std::invalid_argument("strict decoding error: " + all);
}

void CheckMediaType(const ServerRequest& request, const Resource& resource) {
  const std::string type = request.media_type();
  if (type.empty() || type == "application/json" || type == "application/yaml") return;
  if (request.body_error && resource.built_in) return;
  throw StatusError(
      415, "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

json DecodeObject(const ServerRequest& request, const Resource& resource,
                  const WriteOptions& options, Warnings& warnings) {
  CheckBodySize(request);
  if (request.body_error) throw NotConverted(request, resource, *request.body_error);
  json object = ParseObject(request, resource);
  CheckTypeMeta(request, resource, object);
  try {
    const bool is_json = request.content_type.find("yaml") == std::string::npos;
    std::vector<std::string> errors =
        FindStrictDecodingErrors(is_json ? request.body : object.dump(), *resource.schema);
    json decoded = Decode(std::move(object), resource, errors);
    ReportDecodingErrors(errors, options, warnings);
    return decoded;
  } catch (const std::invalid_argument& error) {
    throw BadRequest(DecodingErrorPrefix(resource) + error.what());
  }
}

json DecodePatchedObject(json object, const Resource& resource, const WriteOptions& options,
                         Warnings& warnings) {
  const std::string text = object.dump();
  CheckPatchedTypeMeta(object, text, resource);
  try {
    std::vector<std::string> errors = FindStrictDecodingErrors(text, *resource.schema);
    json decoded = Decode(std::move(object), resource, errors);
    ReportDecodingErrors(errors, options, warnings);
    return decoded;
  } catch (const std::invalid_argument& error) {
    throw Invalid(Resource(), "", {InvalidValue("patch", text, error.what())});
  }
}

json DecodeMergedObject(json object, const Resource& resource, const WriteOptions& options,
                        Warnings& warnings, const std::string& patch,
                        std::vector<std::string> patch_errors) {
  try {
    ConvertUnstructured(object, *resource.schema);
    std::vector<std::string> errors = FindStrictDecodingErrors(object.dump(), *resource.schema);
    std::sort(errors.begin(), errors.end());
    patch_errors.insert(patch_errors.end(), errors.begin(), errors.end());
    json decoded = Decode(std::move(object), resource, errors);
    ReportDecodingErrors(patch_errors, options, warnings);
    return decoded;
  } catch (const std::invalid_argument& error) {
    throw Invalid(Resource(), "", {InvalidValue("patch", patch, error.what())});
  }
}

}  // namespace kopp::apiserver
