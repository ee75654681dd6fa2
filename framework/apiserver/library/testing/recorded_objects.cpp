#include "testing/recorded_objects.hpp"

#include "api/request_info.hpp"

#include <string_view>
#include <utility>

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

bool EndsInitialEvents(const json& bookmark) {
  const json& metadata = bookmark.at("metadata");
  return metadata.contains("annotations") &&
         metadata.at("annotations").value("k8s.io/initial-events-end", "") == "true";
}

}  // namespace

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
  if (list.value("/metadata/continue"_json_pointer, "").empty()) {
    collection.objects = std::exchange(collection.next, {});
  }
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
  if (type == "ADDED" || type == "MODIFIED") {
    Store(objects, std::move(object));
  } else if (type == "DELETED") {
    objects.erase(KeyOf(object));
  } else if (type == "BOOKMARK" && stream.sends_initial_events && EndsInitialEvents(object)) {
    stream.sends_initial_events = false;
    collection.objects = std::exchange(collection.next, {});
  }
}

json RecordedObjects::List(const ApiRequest& request) const {
  const auto found =
      collections_.find(CollectionOf(ParseRequestInfo(request.target), request.accept));
  if (found == collections_.end()) return nullptr;
  json list = found->second.head;
  if (list.is_null()) list = {{"apiVersion", "v1"}, {"kind", "List"}};
  list["metadata"] = {{"resourceVersion", "1"}};
  json& items = list["items"] = json::array();
  for (const auto& [key, object] : found->second.objects) items.push_back(object);
  return list;
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
