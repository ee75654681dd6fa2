// Content negotiation: selects the response form from the Accept header.
#include "api/status.hpp"
#include "encoding/response_encoder.hpp"
#include "json/media_types.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Form = ResponseEncoder::Form;

// The server responds with JSON also to clients that request YAML, because JSON is valid YAML.
constexpr std::string_view kAnything = "*/*";
constexpr std::string_view kJsonMedia = "application/json";
constexpr std::string_view kYamlMedia = "application/yaml";

std::string MediaTypes(bool protobuf) {
  return std::string("application/json, application/yaml") +
         (protobuf ? ", application/vnd.kubernetes.protobuf" : "");
}

std::string WatchMediaTypes(bool protobuf) {
  return std::string("application/json;stream=watch") +
         (protobuf ? ", application/vnd.kubernetes.protobuf;stream=watch" : "");
}

bool SupportsProtobuf(const Extensions& extensions) {
  return extensions.make_protobuf_filter != nullptr;
}

bool IsWatch(const ServerRequest& request) {
  return request.target.watch_prefix || request.target.query.IsTrue("watch");
}

bool IsKnown(const MediaType& media, bool protobuf) {
  return media.type == kAnything || media.type == kJsonMedia || media.type == kYamlMedia ||
         (protobuf && media.type == kProtobufType);
}

/// Returns whether the server supports the media type for the resource. If it does, sets the form
/// and the encoding of `encoder`.
bool SelectForm(const MediaType& media, const Resource& resource, const Extensions& extensions,
                ResponseEncoder& encoder) {
  if (!IsKnown(media, SupportsProtobuf(extensions))) return false;
  const bool protobuf = media.type == kProtobufType;
  if (media.as.empty() && media.version.empty() && media.group.empty()) {
    encoder.protobuf = protobuf;
    return !protobuf || resource.built_in;
  }
  if (media.group != "meta.k8s.io") return false;
  if (media.version != "v1" && media.version != "v1beta1") return false;
  constexpr std::pair<std::string_view, Form> kForms[] = {
      {"Table", Form::kTable},
      {"PartialObjectMetadata", Form::kMetadata},
      {"PartialObjectMetadataList", Form::kMetadataList}};
  for (const auto& [name, form] : kForms) {
    if (media.as != name) continue;
    if (form == Form::kTable && (protobuf || extensions.tables == nullptr)) continue;
    encoder.protobuf = protobuf;
    encoder.form = form;
    encoder.version = media.version;
    return true;
  }
  return false;
}

/// Returns the error for a built-in kind if the Accept header contains no known media type.
StatusError NoAcceptableType(const ServerRequest& request, bool protobuf) {
  const bool is_list = request.method == "GET" && request.target.name.empty();
  return {406, "NotAcceptable",
          "406: Not Acceptable\n\nAvailable representations: " + MediaTypes(protobuf) +
              (is_list ? ", " + WatchMediaTypes(protobuf) : ""),
          json::object()};
}

StatusError AcceptedMediaTypesError(const std::string& types) {
  return {406, "NotAcceptable", "only the following media types are accepted: " + types};
}

}  // namespace

ResponseEncoder NegotiateResponse(ServerContext& context, const ServerRequest& request,
                                  const Resource& resource) {
  const Extensions& extensions = context.extensions();
  const bool protobuf = SupportsProtobuf(extensions);
  ResponseEncoder encoder{.include_object = request.target.query.Get("includeObject"),
                          .now = context.Now(),
                          .tables = extensions.tables};
  const std::vector<MediaType> media_types =
      ParseAccept(request.accept.empty() ? kAnything : request.accept);
  const auto is_known = [&](const MediaType& media) { return IsKnown(media, protobuf); };
  if (resource.built_in && std::none_of(media_types.begin(), media_types.end(), is_known)) {
    throw NoAcceptableType(request, protobuf);
  }
  const auto selected = std::find_if(
      media_types.begin(), media_types.end(),
      [&](const MediaType& media) { return SelectForm(media, resource, extensions, encoder); });
  if (selected == media_types.end()) throw AcceptedMediaTypesError(MediaTypes(protobuf));
  if (IsWatch(request)) {
    if (selected->type == kYamlMedia) throw AcceptedMediaTypesError(WatchMediaTypes(protobuf));
    encoder.CheckIncludeObject();
  }
  return encoder;
}

}  // namespace kopp::apiserver
