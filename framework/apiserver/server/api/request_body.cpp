#include "api/request_body.hpp"

#include "api/status.hpp"
#include "api/type_meta.hpp"
#include "decoding/object_decoding.hpp"
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

/// Parses the body. Throws UnrecognizedBody.
json ParseBody(const std::string& body, const std::string& content_type) {
  try {
    return ParseJsonOrYaml(body, content_type);
  } catch (const std::invalid_argument& error) {
    throw UnrecognizedBody(std::string(kJsonErrorPrefix) + error.what());
  }
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
  const TypeMeta type = ReadTypeMeta(object, resource, request.body);
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
