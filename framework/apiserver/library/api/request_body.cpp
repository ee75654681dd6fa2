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

/// The kind and apiVersion of an object.
struct TypeMeta {
  std::string kind{};
  std::string api_version{};
};

TypeMeta TypeMetaOf(const json& object) {
  return {StringField(object, "kind"), StringField(object, "apiVersion")};
}

/// Requires an object whose kind and apiVersion are strings or absent. Throws std::invalid_argument
/// with the message of Go's JSON decoder.
void CheckTypeMetaTypes(const json& object) {
  if (!object.is_object()) {
    throw std::invalid_argument(std::string("json: cannot unmarshal ") + GoJsonType(object) +
                                " into Go value of type struct { APIVersion string "
                                "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                                "\"json:\\\"kind,omitempty\\\"\" }");
  }
  for (const char* name : {"kind", "apiVersion"}) {
    const json& value = Field(object, name);
    if (value.is_null() || value.is_string()) continue;
    throw std::invalid_argument(
        fmt::format("json: cannot unmarshal {} into Go struct field .{} of type string",
                    GoJsonType(value), name));
  }
}

/// Parses the body and checks the types of kind and apiVersion.
json ParseObject(const ServerRequest& request, const Resource& resource) {
  bool is_object = true;
  try {
    json object = ParseJsonOrYaml(request.body, request.content_type);
    is_object = object.is_object();
    CheckTypeMetaTypes(object);
    return object;
  } catch (const std::invalid_argument& error) {
    throw Unrecognized(request, resource,
                       std::string("couldn't get version/kind; json parse error: ") + error.what(),
                       !is_object);
  }
}

/// Returns the error for a body that could not be converted to JSON.
StatusError NotConverted(const ServerRequest& request, const Resource& resource,
                         const BodyError& error) {
  if (error.is_recognized) return BadRequest(DecodingErrorPrefix(resource) + error.reason);
  return Unrecognized(request, resource, error.reason, true);
}

/// Requires a kind, and the apiVersion of the resource, in the body of a custom resource.
void CheckCustomResourceTypeMeta(const ServerRequest& request, const Resource& resource,
                                 const TypeMeta& type) {
  if (type.kind.empty()) {
    throw Unrecognized(request, resource, "Object 'Kind' is missing in '" + request.body + '\'',
                       false);
  }
  if (type.api_version != resource.api_version()) {
    throw BadRequest(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    type.api_version, resource.api_version()));
  }
}

/// Requires that kind and apiVersion of a custom resource match the request path. Used for request
/// bodies and for the results of patches.
void CheckGroupVersionKind(const Resource& resource, const json& object) {
  const auto [kind, api_version] = TypeMetaOf(object);
  Resource actual = resource;
  actual.kind = kind;
  actual.group = api_version.substr(0, api_version.find('/'));
  const std::string name = StringField(Field(object, "metadata"), "name");
  if (api_version != resource.api_version()) {
    throw Invalid(actual, name,
                  {InvalidValue("apiVersion", api_version, "must be " + resource.api_version())});
  }
  if (kind != resource.kind) {
    throw Invalid(actual, name, {InvalidValue("kind", kind, "must be " + resource.kind)});
  }
}

/// Requires that kind and apiVersion of a body, if present, match the resource.
void CheckTypeMeta(const ServerRequest& request, const Resource& resource, const TypeMeta& type) {
  if (!resource.built_in) return CheckCustomResourceTypeMeta(request, resource, type);
  const auto& [kind, api_version] = type;
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

/// Decodes an object, removes kind and apiVersion, and adds missing metadata. `errors` contains the
/// errors of strict decoding. For a custom resource, replaces the errors about unknown fields with
/// those of pruning.
json Decode(json object, const Resource& resource, std::vector<std::string>& errors) {
  KeepEmptyManagedFields(object);
  if (resource.built_in) {
    DecodeTyped(object, *resource.schema);
  } else {
    std::erase_if(errors, [](const std::string& error) { return error.starts_with("unknown"); });
    for (const std::string& path : PruneAndDefault(object, *resource.schema)) {
      errors.push_back("unknown field \"" + path + '"');
    }
    CheckGroupVersionKind(resource, object);
  }
  object.erase("kind");
  object.erase("apiVersion");
  if (json& metadata = object["metadata"]; metadata.is_null()) metadata = json::object();
  return object;
}

/// Requires that a patch of a built-in kind keeps kind and apiVersion. For a custom resource,
/// requires only that the kind is not empty; CheckGroupVersionKind() checks its value.
void CheckPatchedTypeMeta(const json& object, const std::string& text, const Resource& resource) {
  const auto [kind, version] = TypeMetaOf(object);
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

/// Decodes an object, whose JSON is `text`, and handles the errors of strict decoding.
json DecodeStrictly(json object, std::string_view text, const Resource& resource,
                    const WriteOptions& options, Warnings& warnings) {
  std::vector<std::string> errors = FindStrictDecodingErrors(text, *resource.schema);
  json decoded = Decode(std::move(object), resource, errors);
  ReportDecodingErrors(errors, options, warnings);
  return decoded;
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

json DecodeObject(const ServerRequest& request, const Resource& resource,
                  const WriteOptions& options, Warnings& warnings) {
  if (request.body_error) throw NotConverted(request, resource, *request.body_error);
  json object = ParseObject(request, resource);
  CheckTypeMeta(request, resource, TypeMetaOf(object));
  try {
    const bool is_json = request.content_type.find("yaml") == std::string::npos;
    const std::string text = is_json ? "" : object.dump();
    return DecodeStrictly(std::move(object), is_json ? request.body : text, resource, options,
                          warnings);
  } catch (const std::invalid_argument& error) {
    throw BadRequest(DecodingErrorPrefix(resource) + error.what());
  }
}

json DecodePatchedObject(json object, const Resource& resource, const WriteOptions& options,
                         Warnings& warnings) {
  const std::string text = object.dump();
  CheckPatchedTypeMeta(object, text, resource);
  try {
    return DecodeStrictly(std::move(object), text, resource, options, warnings);
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
