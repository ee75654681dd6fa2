#include "written_object.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp {
namespace {

constexpr auto kMalformed = DecodeError::Kind::kMalformed;

bool HasItems(const std::string& envelope) {
  const auto list = nlohmann::json::parse(envelope, nullptr, /*allow_exceptions=*/false);
  return list.is_object() && list.contains("items");
}

using State = WrittenObject::State;

/// The fields of the response to a write: of the object itself, or of a Status.
struct WriteResponse {
  struct Metadata {
    std::string name;
    std::string ns;
    std::string uid;
    std::string resourceVersion;
    std::optional<std::string> deletionTimestamp;
    std::optional<std::int64_t> deletionGracePeriodSeconds;
    std::vector<std::string> finalizers;
    std::map<std::string, std::string> labels;
    std::vector<OwnerReference> ownerReferences;
  };
  struct Details {
    std::string uid;
  };
  std::string kind;
  Metadata metadata;
  Details details;  // of a Status
};
KOPP_FIELDS(WriteResponse::Metadata, name, KOPP_FIELD(ns, "namespace"), uid, resourceVersion,
            deletionTimestamp, deletionGracePeriodSeconds, finalizers, labels, ownerReferences)
KOPP_FIELDS(WriteResponse::Details, uid)
KOPP_FIELDS(WriteResponse, kind, metadata, details)

/// Returns the uid of the controller among `owners`, or "".
std::string ControllerUid(const std::vector<OwnerReference>& owners) {
  const auto controller = std::ranges::find_if(owners, &OwnerReference::controller);
  return controller == owners.end() ? "" : controller->uid;
}

WrittenObject ObjectIn(WriteResponse response, State state) {
  WriteResponse::Metadata& metadata = response.metadata;
  WrittenObject object{.key = {std::move(metadata.ns), std::move(metadata.name)},
                       .uid = std::move(metadata.uid),
                       .controller = ControllerUid(metadata.ownerReferences),
                       .state = state};
  // A Scale has the metadata of the object that it scales, except the labels.
  if (response.kind != "Scale") object.labels = std::move(metadata.labels);
  if (state == State::kExists) object.resource_version = std::move(metadata.resourceVersion);
  return object;
}

/// Returns whether nothing delays the deletion of a marked object any more. The API server removes
/// it with the write that removes the last finalizer. Namespaces have other finalizers in `spec`.
bool IsDeletionComplete(const Kind& kind, const WriteResponse::Metadata& metadata) {
  return metadata.deletionTimestamp && metadata.finalizers.empty() &&
         metadata.deletionGracePeriodSeconds.value_or(0) == 0 && kind.plural != "namespaces";
}

}  // namespace

ListResponse DecodeListResponse(const JsonSplitter& splitter) {
  if (!splitter.IsComplete()) {
    throw DecodeError(kMalformed, "", "the response is not a complete list");
  }
  auto list = Decode<ListResponse>(splitter.envelope());
  if (!list.items.text.empty()) return list;
  if (!list.kind.ends_with("List")) {
    throw DecodeError(kMalformed, "", "the response is not a list but a \"" + list.kind + "\"");
  }
  // A server written in Go may send `"items": null` for an empty list. If there are no items at
  // all, the cache must not take the list for an empty one, which would delete its objects.
  if (!HasItems(splitter.envelope())) {
    throw DecodeError(kMalformed, "", "the " + list.kind + " has no items");
  }
  return list;
}

std::optional<WrittenObject> WrittenObjectOf(const ObjectMeta& metadata) {
  if (metadata.resourceVersion.empty() || metadata.deletionTimestamp) return std::nullopt;
  return WrittenObject{.key = {metadata.ns, metadata.name},
                       .uid = metadata.uid,
                       .resource_version = metadata.resourceVersion,
                       .labels = metadata.labels.get(),
                       .controller = ControllerUid(metadata.ownerReferences.get()),
                       .state = State::kExists};
}

std::vector<WrittenObject> WrittenObjects(const Kind& kind, std::string_view body) {
  auto response = Decode<WriteResponse>(body);
  if (response.metadata.resourceVersion.empty()) return {};
  const bool gone = IsDeletionComplete(kind, response.metadata);
  return {ObjectIn(std::move(response), gone ? State::kGone : State::kExists)};
}

std::vector<WrittenObject> DeletedObjects(const Kind& kind, const ObjectKey& key,
                                          std::string_view body) {
  auto response = Decode<WriteResponse>(body);
  const WriteResponse::Metadata& metadata = response.metadata;
  if (metadata.uid.empty()) {  // a Status
    if (response.details.uid.empty()) return {};
    return {{.key = key, .uid = std::move(response.details.uid), .state = State::kGone}};
  }
  const bool gone = !metadata.deletionTimestamp || IsDeletionComplete(kind, metadata);
  return {ObjectIn(std::move(response), gone ? State::kGone : State::kExists)};
}

std::vector<WrittenObject> DeletedCollection(std::string_view body) {
  std::vector<WrittenObject> objects;
  JsonSplitter splitter(JsonSplitter::Mode::kListItems);
  splitter.Feed(body);
  while (const auto object = splitter.Next()) {
    objects.push_back(ObjectIn(Decode<WriteResponse>(object->text), State::kDeleting));
  }
  return objects;
}

}  // namespace kopp
