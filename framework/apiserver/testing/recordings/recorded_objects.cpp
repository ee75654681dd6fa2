#include "recordings/recorded_objects.hpp"

#include "api/request_info.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <kopp/informer/object.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns what a list and the watch that continues it have in common.
std::string CollectionOf(const RequestInfo& request, std::string_view accept) {
  std::string key = request.path;
  key.append("\nlabels ").append(request.query.Get("labelSelector"));
  key.append("\nfields ").append(request.query.Get("fieldSelector"));
  const bool is_metadata = accept.find("as=PartialObjectMetadata") != std::string_view::npos;
  return key + (is_metadata ? "\nmetadata" : "");
}

std::string KeyOf(const json& object) {
  const json& metadata = object.at("metadata");
  return metadata.value("namespace", "") + '/' + metadata.value("name", "");
}

/// The operator skips an event that is not valid.
bool IsEvent(const json& event) {
  return event.is_object() && event.contains("type") && event.contains("object") &&
         event.at("object").is_object() && event.at("object").contains("metadata");
}

std::string VersionOf(const json& value) {
  return value.value("/metadata/resourceVersion"_json_pointer, "");
}

bool EndsInitialEvents(const json& bookmark) {
  const json& metadata = bookmark.at("metadata");
  return metadata.contains("annotations") &&
         metadata.at("annotations").value("k8s.io/initial-events-end", "") == "true";
}

/// Returns whether the collection at `path` may have the written object.
bool IsOfKind(const std::string& path, const RecordedWrite& write) {
  const RequestInfo info = ParseRequestInfo(path);
  return info.group == write.group && info.plural == write.plural &&
         (info.ns.empty() || info.ns == write.ns);
}

}  // namespace

std::optional<RecordedWrite> WriteOf(const json& entry) {
  const json& call = entry.at("call");
  const std::string method = call.at("method");
  if (method == "GET" || !entry.contains("response")) return std::nullopt;
  const json& response = entry.at("response");
  if (response.value("status", 0) >= 300) return std::nullopt;
  const RequestInfo info = ParseRequestInfo(call.at("target").get<std::string>());
  const json object = json::parse(response.value("body", ""), nullptr, false);
  if (!object.is_object()) return std::nullopt;
  RecordedWrite write{.group = info.group, .plural = info.plural, .ns = info.ns, .name = info.name};
  const std::string uid_of_status = object.value("/details/uid"_json_pointer, "");
  write.uid = object.value("/metadata/uid"_json_pointer, uid_of_status);
  if (write.name.empty()) write.name = object.value("/metadata/name"_json_pointer, "");
  if (method != "DELETE") write.version = VersionOf(object);
  const bool has_version = method == "DELETE" || !write.version.empty();
  return write.name.empty() || !has_version ? std::nullopt : std::optional(write);
}

void RecordedObjects::Apply(const json& entry) {
  const std::uint64_t number = entry.at("stream");
  if (entry.contains("open")) {
    if (entry.at("response").value("status", 0) != 200) return;
    const json& open = entry.at("open");
    const RequestInfo request = ParseRequestInfo(open.at("target").get<std::string>());
    OpenStream& stream = streams_[number];
    stream.collection = CollectionOf(request, open.value("accept", ""));
    stream.is_watch = request.query.IsTrue("watch");
    stream.is_first_page = request.query.Get("continue").empty();
    stream.sends_initial_events = request.query.IsTrue("sendInitialEvents");
    Collection& collection = collections_[stream.collection];
    collection.path = request.path;
    if (stream.sends_initial_events) collection.next.clear();
    return;
  }
  const auto found = streams_.find(number);
  if (found == streams_.end()) return;
  if (entry.contains("bytes")) found->second.bytes += entry.at("bytes").get<std::string>();
  if (found->second.is_watch) {
    ApplyEvents(found->second);
  } else if (entry.contains("end")) {
    ApplyList(found->second);
  }
  if (entry.contains("end")) streams_.erase(found);
}

// The operator keeps the previous objects until the last page has arrived.
void RecordedObjects::ApplyList(OpenStream& stream) {
  json list = json::parse(stream.bytes);
  Collection& collection = collections_[stream.collection];
  if (stream.is_first_page) collection.next.clear();
  for (json& item : list.at("items")) Store(collection.next, std::move(item));
  collection.head = {{"apiVersion", list.value("apiVersion", "")},
                     {"kind", list.value("kind", "")}};
  collection.version = VersionOf(list);
  if (list.value("/metadata/continue"_json_pointer, "").empty()) CompleteList(collection);
}

void RecordedObjects::CompleteList(Collection& collection) {
  collection.objects = std::exchange(collection.next, {});
  collection.is_listed = true;
}

void RecordedObjects::Store(Objects& objects, json object) {
  const std::string key = KeyOf(object);
  objects[key] = std::move(object);
}

void RecordedObjects::ApplyEvents(OpenStream& stream) {
  std::size_t start = 0;
  for (auto end = stream.bytes.find('\n'); end != std::string::npos;
       end = stream.bytes.find('\n', start)) {
    const auto line = std::string_view(stream.bytes).substr(start, end - start);
    json event = json::parse(line, nullptr, false);
    if (IsEvent(event)) ApplyEvent(stream, std::move(event));
    start = end + 1;
  }
  stream.bytes.erase(0, start);
}

void RecordedObjects::ApplyEvent(OpenStream& stream, json event) {
  Collection& collection = collections_[stream.collection];
  Objects& objects = stream.sends_initial_events ? collection.next : collection.objects;
  const std::string type = event.at("type");
  json& object = event.at("object");
  const std::string version = VersionOf(object);
  if (!stream.sends_initial_events && IsOlderResourceVersion(version, collection.version)) return;
  if (!version.empty()) collection.version = version;
  if (type == "ADDED" || type == "MODIFIED") {
    Store(objects, std::move(object));
  } else if (type == "DELETED") {
    objects.erase(KeyOf(object));
  } else if (type == "BOOKMARK" && stream.sends_initial_events && EndsInitialEvents(object)) {
    stream.sends_initial_events = false;
    CompleteList(collection);
  }
}

json RecordedObjects::List(const ApiRequest& request) const {
  const auto found =
      collections_.find(CollectionOf(ParseRequestInfo(request.target), request.accept));
  if (found == collections_.end() || !found->second.is_listed) return nullptr;
  json list = found->second.head;
  if (list.is_null()) list = {{"apiVersion", "v1"}, {"kind", "List"}};
  list["metadata"] = {{"resourceVersion", "1"}};
  json& items = list["items"] = json::array();
  for (const auto& [key, object] : found->second.objects) items.push_back(object);
  return list;
}

bool RecordedObjects::Has(const Collection& collection, const RecordedWrite& write) {
  const auto found = collection.objects.find(write.ns + '/' + write.name);
  const bool exists = found != collection.objects.end();
  if (write.version.empty()) {
    if (!exists) return true;
    const json& metadata = found->second.at("metadata");
    return metadata.contains("deletionTimestamp") || metadata.value("uid", "") != write.uid;
  }
  return (exists && !IsOlderResourceVersion(VersionOf(found->second), write.version)) ||
         (!collection.version.empty() &&
          !IsOlderResourceVersion(collection.version, write.version));
}

bool RecordedObjects::Has(const RecordedWrite& write) const {
  return std::ranges::all_of(collections_, [&](const auto& entry) {
    return !IsOfKind(entry.second.path, write) || Has(entry.second, write);
  });
}

void RecordedObjects::Await(const RecordedWrite& write, std::span<const json> following) {
  RecordedObjects ahead = *this;
  for (auto entry = following.begin(); entry != following.end() && !ahead.Has(write); ++entry) {
    if (entry->contains("stream")) ahead.Apply(*entry);
  }
  for (auto& [key, collection] : collections_) {
    if (!IsOfKind(collection.path, write) || Has(collection, write)) continue;
    Collection& later = ahead.collections_[key];
    const bool is_received =
        write.version.empty() || later.objects.contains(write.ns + '/' + write.name);
    if (is_received && Has(later, write)) collection = std::move(later);
  }
}

std::vector<std::string> RecordedObjects::Paths() const {
  std::vector<std::string> paths;
  for (const auto& [key, collection] : collections_) paths.push_back(collection.path);
  return paths;
}

ApiResponse RecordedListTransport::Call(const ApiRequest& request, std::stop_token) {
  return ListResponse(request);
}

std::unique_ptr<Stream> RecordedListTransport::Open(const ApiRequest& request,
                                                    std::stop_token stop) {
  const RequestInfo info = ParseRequestInfo(request.target);
  if (!info.query.IsTrue("watch")) {
    responses_.On(request.method, info.path,
                  [this](const ApiRequest& list) { return ListResponse(list); });
  }
  return responses_.Open(request, std::move(stop));
}

ApiResponse RecordedListTransport::ListResponse(const ApiRequest& request) {
  json list = objects_.List(request);
  if (list.is_null()) {
    missing_.Lock()->insert(request.target);
    list = {{"apiVersion", "v1"},
            {"kind", "List"},
            {"metadata", {{"resourceVersion", "1"}}},
            {"items", json::array()}};
  }
  return {.status = 200, .body = list.dump()};
}

}  // namespace kopp::apiserver
