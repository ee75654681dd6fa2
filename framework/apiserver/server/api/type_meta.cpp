#include "api/type_meta.hpp"

#include "api/status.hpp"
#include "json/go_values.hpp"
#include "schema/accessors.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns a string, or "" if it is absent. Throws UnrecognizedBody for another value.
std::string ReadString(const json& object, const char* name) {
  const json& value = Field(object, name);
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  throw UnrecognizedBody(
      fmt::format("{}json: cannot unmarshal {} into Go struct field .{} of type string",
                  kJsonErrorPrefix, GoJsonType(value), name));
}

/// Requires that the kind and apiVersion, if present, are those of the built-in resource.
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

}  // namespace

TypeMeta ReadTypeMeta(const json& object, const Resource& resource, const std::string& body) {
  TypeMeta type{ReadString(object, "kind"), ReadString(object, "apiVersion")};
  if (!object.is_object()) {
    throw UnrecognizedBody(
        fmt::format("{}json: cannot unmarshal {} into Go value of type struct {{ APIVersion string "
                    R"("json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }})",
                    kJsonErrorPrefix, GoJsonType(object)),
        Quoting::kHex);
  }
  if (resource.built_in) {
    CheckBuiltInType(type, resource);
    return type;
  }
  if (type.kind.empty()) throw UnrecognizedBody("Object 'Kind' is missing in '" + body + '\'');
  if (type.api_version == resource.api_version()) return type;
  throw BadRequest(
      fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                  type.api_version, resource.api_version()));
}

void CheckDecodedType(const TypeMeta& type, const Resource& resource, const std::string& name) {
  const auto& [kind, api_version] = type;
  const bool same_version = api_version == resource.api_version();
  if (same_version && kind == resource.kind) return;
  Resource actual = resource;
  actual.kind = kind;
  actual.group = api_version.substr(0, api_version.find('/'));
  const FieldError error =
      same_version ? InvalidValue("kind", kind, "must be " + resource.kind)
                   : InvalidValue("apiVersion", api_version, "must be " + resource.api_version());
  throw Invalid(actual, name, {error});
}

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

}  // namespace kopp::apiserver
