#include "encoding/response_encoder.hpp"

#include "api/status.hpp"
#include "json/media_types.hpp"
#include "storage/object_responses.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Form = ResponseEncoder::Form;

json MetadataOnly(const json& object, const ResponseEncoder& encoder) {
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", "meta.k8s.io/" + encoder.version},
          {"metadata", object.value("metadata", json::object())}};
}

json MakeRow(const json& object, const Resource& resource, const ResponseEncoder& encoder) {
  json row{{"cells", encoder.tables->cells(resource, object, encoder.now)}, {"object", nullptr}};
  if (encoder.include_object == "Object") {
    row["object"] = ResponseObject(object, resource);
  } else if (encoder.include_object != "None") {
    row["object"] = MetadataOnly(object, encoder);
  }
  json conditions = encoder.tables->row_conditions(resource, object);
  if (!conditions.is_null()) row["conditions"] = std::move(conditions);
  return row;
}

json MakeTable(json metadata, json columns, json rows, const std::string& version) {
  return {{"kind", "Table"},
          {"apiVersion", "meta.k8s.io/" + version},
          {"metadata", std::move(metadata)},
          {"columnDefinitions", std::move(columns)},
          {"rows", std::move(rows)}};
}

/// Returns an object in a form other than kObject. A Table has column definitions only if
/// `is_first`.
json Convert(const json& object, const Resource& resource, const ResponseEncoder& encoder,
             bool is_first = true) {
  if (encoder.form != Form::kTable) return MetadataOnly(object, encoder);
  const json metadata{{"resourceVersion", object.at("metadata").value("resourceVersion", "")}};
  return MakeTable(metadata, is_first ? encoder.tables->column_definitions(resource) : json(),
                   json::array({MakeRow(object, resource, encoder)}), encoder.version);
}

/// Returns the Go type name of the real server, which its error messages contain: "*rbac.Role".
std::string GoTypeOf(const Resource& resource, const std::string& kind) {
  std::string package = resource.group.substr(0, resource.group.find('.'));
  if (package.empty() || resource.kind == "Event") package = "core";
  return '*' + package + '.' + kind;
}

StatusError NotAcceptable(const std::string& message) { return {406, "NotAcceptable", message}; }

StatusError NotAListError(const Resource& resource) {
  if (!resource.built_in) return {500, "", "content is not a list"};
  return NotAcceptable(
      "you requested PartialObjectMetadataList, but the requested object is not a list (" +
      GoTypeOf(resource, resource.kind) + ')');
}

StatusError IsAListError(const Resource& resource) {
  const std::string type = resource.built_in ? GoTypeOf(resource, resource.list_kind)
                                             : std::string("*unstructured.UnstructuredList");
  return NotAcceptable("you requested PartialObjectMetadata, but the requested object is a list (" +
                       type + ')');
}

}  // namespace

std::string ResponseEncoder::content_type() const {
  return protobuf ? std::string(kProtobufType) : "application/json";
}

std::string ResponseEncoder::watch_content_type() const {
  return protobuf ? std::string(kProtobufWatchType) : "application/json";
}

void ResponseEncoder::CheckIncludeObject() const {
  if (form != Form::kTable) return;
  for (const char* valid : {"", "None", "Metadata", "Object"}) {
    if (include_object == valid) return;
  }
  throw BadRequest("Unable to convert to Table as requested: includeObject: Invalid value: \"" +
                   include_object + "\": must be 'Metadata', 'Object', 'None', or empty");
}

ResponseBody ResponseEncoder::ObjectBody(json object, const Resource& resource) const {
  if (form == Form::kMetadataList) throw NotAListError(resource);
  CheckIncludeObject();
  return form == Form::kObject ? std::move(object) : Convert(object, resource, *this);
}

ResponseBody ResponseEncoder::StoredObjectBody(const std::string& text,
                                               const Resource& resource) const {
  if (form == Form::kObject) return ResponseText(text, resource);
  return ObjectBody(json::parse(text), resource);
}

std::string ResponseEncoder::EncodeEventObject(const std::string& text, const Resource& resource,
                                               bool is_first, bool is_bookmark) const {
  if (form == Form::kObject) return ResponseText(text, resource);
  ResponseEncoder encoder = *this;
  if (is_bookmark) encoder.include_object = "Metadata";
  return Convert(json::parse(text), resource, encoder, is_first).dump();
}

ResponseBody ResponseEncoder::ListBody(const std::vector<const std::string*>& texts, json metadata,
                                       const Resource& resource) const {
  if (form == Form::kMetadata) throw IsAListError(resource);
  CheckIncludeObject();
  if (form == Form::kTable) {
    json rows = json::array();
    for (const std::string* text : texts)
      rows.push_back(MakeRow(json::parse(*text), resource, *this));
    return MakeTable(std::move(metadata), tables->column_definitions(resource), std::move(rows),
                     version);
  }
  if (form == Form::kMetadataList) {
    json items;  // null if there are no items
    for (const std::string* text : texts) items.push_back(MetadataOnly(json::parse(*text), *this));
    return json{{"kind", "PartialObjectMetadataList"},
                {"apiVersion", "meta.k8s.io/" + version},
                {"metadata", std::move(metadata)},
                {"items", std::move(items)}};
  }
  std::string list = R"({"kind":")" + resource.list_kind + R"(","apiVersion":")" +
                     resource.api_version() + R"(","metadata":)" + metadata.dump() +
                     R"(,"items":[)";
  for (const std::string* text : texts) {
    if (list.back() != '[') list += ',';
    list += ListItemText(*text, resource);
  }
  return list + "]}";
}

ResponseBody ResponseEncoder::WriteBody(ResponseBody body, const Resource& resource) const {
  if (form == Form::kObject) return body;
  json response = body.ToValue();
  const std::string kind = response.value("kind", "");
  if (kind == "Status") return body;
  if (kind != resource.list_kind) return ObjectBody(std::move(response), resource);
  std::vector<std::string> items;
  for (const json& item : response.at("items")) items.push_back(item.dump());
  std::vector<const std::string*> texts;
  for (const std::string& item : items) texts.push_back(&item);
  return ListBody(texts, std::move(response.at("metadata")), resource);
}

}  // namespace kopp::apiserver
