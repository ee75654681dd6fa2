// Which form a client gets of those that it takes.
#include "media_types.hpp"
#include "presentation.hpp"
#include "status.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Form = Presentation::Form;

// What can be had is JSON, which is YAML too. The real server's third type, and YAML that looks
// like it, are not missed in tests.
constexpr std::string_view kAnything = "*/*";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kYaml = "application/yaml";
constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
constexpr const char* kAll =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr const char* kAllOfWatches =
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

bool IsWatch(const Ask& ask) { return ask.target.watch_prefix || ask.target.query.IsTrue("watch"); }

bool IsKnown(const MediaType& media) {
  return media.type == kAnything || media.type == kJson || media.type == kYaml ||
         media.type == kProtobuf;
}

/// Whether the choice can be had; if so, `presentation` is in its form.
bool Takes(const MediaType& media, Presentation& presentation) {
  if (!IsKnown(media) || media.type == kProtobuf) return false;
  if (media.as.empty() && media.version.empty() && media.group.empty()) return true;
  if (media.group != "meta.k8s.io") return false;
  if (media.version != "v1" && media.version != "v1beta1") return false;
  constexpr std::pair<std::string_view, Form> kForms[] = {
      {"Table", Form::kTable},
      {"PartialObjectMetadata", Form::kMetadata},
      {"PartialObjectMetadataList", Form::kMetadataList}};
  for (const auto& [name, form] : kForms) {
    if (media.as != name) continue;
    presentation.form = form;
    presentation.version = media.version;
    return true;
  }
  return false;
}

/// None of the choices is a type that the path of a built-in kind has.
Refusal NoSuchType(const Ask& ask) {
  const bool is_list = ask.method == "GET" && ask.target.name.empty();
  return {406, "NotAcceptable",
          std::string("406: Not Acceptable\n\nAvailable representations: ") + kAll +
              (is_list ? std::string(", ") + kAllOfWatches : ""),
          json::object()};
}

Refusal NotOneOf(const std::string& types) {
  return {406, "NotAcceptable", "only the following media types are accepted: " + types};
}

}  // namespace

Presentation ReadPresentation(const Ask& ask, const Resource& resource, const std::string& now) {
  Presentation presentation{.include = ask.target.query.Get("includeObject"), .now = now};
  const std::vector<MediaType> choices = ReadAccept(ask.accept.empty() ? kAnything : ask.accept);
  if (resource.built_in && std::none_of(choices.begin(), choices.end(), IsKnown)) {
    throw NoSuchType(ask);
  }
  const auto taken = std::find_if(choices.begin(), choices.end(), [&](const MediaType& media) {
    return Takes(media, presentation);
  });
  if (taken == choices.end()) throw NotOneOf(kAll);
  if (IsWatch(ask)) {
    if (taken->type == kYaml) throw NotOneOf(kAllOfWatches);
    presentation.CheckInclude();
  }
  return presentation;
}

}  // namespace kopp::apiserver
