#include "api/request_body.hpp"

#include "api/status.hpp"
#include "decoding/object_decoding.hpp"
#include "json/go_values.hpp"
#include "json/parse.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using FieldValidation = WriteOptions::FieldValidation;

/// How an error quotes the body: kube-apiserver has hexadecimal digits for a body that is not an
/// object.
enum class Quoting { kText, kHex };

/// Thrown for a body that is not recognized as an object. DecodeObject() quotes the body in the
/// error.
class UnrecognizedBody : public std::runtime_error {
 public:
  explicit UnrecognizedBody(const std::string& reason, Quoting quoting = Quoting::kText)
      : std::runtime_error(reason), quoting_(quoting) {}
  [[nodiscard]] Quoting quoting() const { return quoting_; }

 private:
  Quoting quoting_;
};

/// The kind and apiVersion of an object.
struct TypeMeta {
  std::string kind{};
  std::string api_version{};
};

/// Returns the prefix of decoding errors, as in kube-apiserver.
std::string DecodingErrorPrefix(const Resource& resource) {
  return fmt::format(R"({} in version "{}" cannot be handled as a {}: )", resource.kind,
                     resource.version, resource.kind);
}

/// Returns the start of a body, as kube-apiserver quotes it in decoding errors.
std::string BodyExcerpt(const std::string& body, Quoting quoting) {
  constexpr std::size_t kMaxExcerpt = 30;
  if (body.empty()) return " (<empty>)";
  std::string excerpt = body.substr(0, kMaxExcerpt);
  if (quoting == Quoting::kHex) {
    std::string hex;
    for (const char c : excerpt) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    excerpt = std::move(hex);
  }
  return " (" + excerpt + (body.size() > kMaxExcerpt ? " ...)" : ")");
}

constexpr const char* kJsonErrorPrefix = "couldn't get version/kind; json parse error: ";

/// Parses the body. Throws UnrecognizedBody.
json ParseBody(const std::string& body, const std::string& content_type) {
  try {
    return ParseJsonOrYaml(body, content_type);
  } catch (const std::invalid_argument& error) {
    throw UnrecognizedBody(std::string(kJsonErrorPrefix) + error.what());
  }
}

/// Returns a string, or "" if it is absent. Throws UnrecognizedBody for another value.
std::string ReadString(const json& object, const char* name) {
  const json& value = Field(object, name);
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  throw UnrecognizedBody(
      fmt::format("{}json: cannot unmarshal {} into Go struct field .{} of type string",
                  kJsonErrorPrefix, GoJsonType(value), name));
}

/// Throws UnrecognizedBody unless `object` is an object whose kind and apiVersion are strings or
/// absent.
TypeMeta ReadTypeMeta(const json& object) {
  if (object.is_object()) return {ReadString(object, "kind"), ReadString(object, "apiVersion")};
  throw UnrecognizedBody(
      fmt::format("{}json: cannot unmarshal {} into Go value of type struct {{ APIVersion string "
                  R"("json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }})",
                  kJsonErrorPrefix, GoJsonType(object)),
      Quoting::kHex);
}

/// Requires that the kind and apiVersion of a body, if present, are those of the built-in resource.
void CheckBuiltInType(const TypeMeta& type, const Resource& resource) {
  const auto& [kind, api_version] = type;
  if (std::count(api_version.begin(), api_version.end(), '/') > 1) {
    throw UnrecognizedBody("unexpected GroupVersion string: " + api_version);
  }
  const bool same_kind = kind.empty() || kind == resource.kind;
  const bool same_version = api_version.empty() || api_version == resource.api_version();
  if (same_kind && same_version) return;
  const std::string version = api_version.substr(api_version.find('/') + 1);
  throw BadRequest(fmt::format(R"({} in version "{}" cannot be handled as a {}: )"
                               R"(no kind "{}" is registered for version "{}" in scheme)",
                               kind, version, resource.kind, kind, api_version));
}

/// Requires a kind, and the apiVersion of the custom resource. CheckDecodedType() checks the kind.
void CheckCustomType(const TypeMeta& type, const Resource& resource, const std::string& body) {
  if (type.kind.empty()) throw UnrecognizedBody("Object 'Kind' is missing in '" + body + '\'');
  if (type.api_version == resource.api_version()) return;
  throw BadRequest(
      fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                  type.api_version, resource.api_version()));
}

/// Requires the kind and apiVersion of the custom resource in an object with the name `name`, in a
/// body or after a patch.
void CheckDecodedType(const TypeMeta& type, const Resource& resource, const std::string& name) {
  const auto& [kind, api_version] = type;
  Resource actual = resource;
  actual.kind = kind;
  actual.group = api_version.substr(0, api_version.find('/'));
  if (api_version != resource.api_version()) {
    throw Invalid(actual, name,
                  {InvalidValue("apiVersion", api_version, "must be " + resource.api_version())});
  }
  if (kind != resource.kind) {
    throw Invalid(actual, name, {InvalidValue("kind", kind, "must be " + resource.kind)});
  }
}

/// Requires that a patch of a built-in kind keeps kind and apiVersion. For a custom resource,
/// requires only that the kind is not empty; CheckDecodedType() checks its value.
void CheckPatchedType(const TypeMeta& type, const json& object, const std::string& text,
                      const Resource& resource) {
  const auto& [kind, version] = type;
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

/// Decodes an object of the type `type`, whose JSON is `text`, and handles the errors of strict
/// decoding. Also throws std::invalid_argument.
json Decode(json object, const TypeMeta& type, std::string_view text, const Resource& resource,
            const WriteOptions& options, Warnings& warnings) {
  DecodedObject decoded =
      DecodeStrictly(std::move(object), text, *resource.schema, resource.built_in);
  if (!resource.built_in) {
    CheckDecodedType(type, resource, decoded.object.at("metadata").value("name", ""));
  }
  ReportDecodingErrors(decoded.errors, options, warnings);
  return std::move(decoded.object);
}

/// Decodes the object in the body. Also throws UnrecognizedBody and std::invalid_argument.
json DecodeBody(const ServerRequest& request, const Resource& resource, const WriteOptions& options,
                Warnings& warnings) {
  if (const std::optional<BodyError>& error = request.body_error) {
    if (error->is_recognized) throw std::invalid_argument(error->reason);
    throw UnrecognizedBody(error->reason, Quoting::kHex);
  }
  json object = ParseBody(request.body, request.content_type);
  const TypeMeta type = ReadTypeMeta(object);
  if (resource.built_in) {
    CheckBuiltInType(type, resource);
  } else {
    CheckCustomType(type, resource, request.body);
  }
  const bool is_json = request.content_type.find("yaml") == std::string::npos;
  const std::string converted = is_json ? "" : object.dump();
  return Decode(std::move(object), type, is_json ? request.body : converted, resource, options,
                warnings);
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
  try {
    return DecodeBody(request, resource, options, warnings);
  } catch (const UnrecognizedBody& error) {
    throw BadRequest(fmt::format("the object provided is unrecognized (must be of type {}): {}{}",
                                 resource.kind, error.what(),
                                 BodyExcerpt(request.body, error.quoting())));
  } catch (const std::invalid_argument& error) {
    throw BadRequest(DecodingErrorPrefix(resource) + error.what());
  }
}

json DecodePatchedObject(json object, const Resource& resource, const WriteOptions& options,
                         Warnings& warnings) {
  const TypeMeta type{StringField(object, "kind"), StringField(object, "apiVersion")};
  const std::string text = object.dump();
  CheckPatchedType(type, object, text, resource);
  try {
    return Decode(std::move(object), type, text, resource, options, warnings);
  } catch (const std::invalid_argument& error) {
    throw Invalid(Resource(), "", {InvalidValue("patch", text, error.what())});
  }
}

json DecodeMergedObject(json object, const Resource& resource, const WriteOptions& options,
                        Warnings& warnings, const std::string& patch,
                        std::vector<std::string> patch_errors) {
  try {
    ConvertUnstructured(object, *resource.schema);
    const std::string text = object.dump();
    auto [decoded, errors] =
        DecodeStrictly(std::move(object), text, *resource.schema, resource.built_in);
    std::sort(errors.begin(), errors.end());
    patch_errors.insert(patch_errors.end(), errors.begin(), errors.end());
    ReportDecodingErrors(patch_errors, options, warnings);
    return std::move(decoded);
  } catch (const std::invalid_argument& error) {
    throw Invalid(Resource(), "", {InvalidValue("patch", patch, error.what())});
  }
}

}  // namespace kopp::apiserver
