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
    collections_[stream.collection].path = request.path;
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

void RecordedObjects::ApplyList(OpenStream& stream) {
  json list = json::parse(stream.bytes);
  Collection& collection = collections_[stream.collection];
  if (stream.is_first_page) collection.objects.clear();
  for (json& item : list.at("items")) Store(collection, std::move(item));
  list.erase("items");
  collection.head = {{"apiVersion", list.value("apiVersion", "")},
                     {"kind", list.value("kind", "")}};
}

void RecordedObjects::Store(Collection& collection, json object) {
  const std::string key = KeyOf(object);
  collection.objects[key] = std::move(object);
}

void RecordedObjects::ApplyEvents(OpenStream& stream) {
  Collection& collection = collections_[stream.collection];
  std::size_t start = 0;
  for (auto end = stream.bytes.find('\n'); end != std::string::npos;
       end = stream.bytes.find('\n', start)) {
    json event = json::parse(stream.bytes.begin() + static_cast<std::ptrdiff_t>(start),
                             stream.bytes.begin() + static_cast<std::ptrdiff_t>(end));
    start = end + 1;
    const std::string type = event.at("type");
    json& object = event.at("object");
    if (type == "ADDED" || type == "MODIFIED") {
      Store(collection, std::move(object));
    } else if (type == "DELETED") {
      collection.objects.erase(KeyOf(object));
    }
  }
  stream.bytes.erase(0, start);
}

json RecordedObjects::List(const Request& request) const {
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

Response RecordedListTransport::Call(const Request& request, std::stop_token) {
  return ListResponse(request);
}

std::unique_ptr<Stream> RecordedListTransport::Open(const Request& request, std::stop_token stop) {
  const RequestInfo info = ParseRequestInfo(request.target);
  if (!info.query.IsTrue("watch")) {
    responses_.On(request.method, info.path,
                  [this](const Request& list) { return ListResponse(list); });
  }
  return responses_.Open(request, std::move(stop));
}

Response RecordedListTransport::ListResponse(const Request& request) {
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
