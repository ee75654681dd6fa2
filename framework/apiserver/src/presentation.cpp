#include "presentation.hpp"

#include "objects.hpp"
#include "status.hpp"
#include "table.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Form = Presentation::Form;

json MetadataOnly(const json& object, const Presentation& presentation) {
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", "meta.k8s.io/" + presentation.version},
          {"metadata", object.value("metadata", json::object())}};
}

json Row(const json& object, const Resource& resource, const Presentation& presentation) {
  json row{{"cells", CellsOf(resource, object, presentation.now)}, {"object", nullptr}};
  if (presentation.include == "Object") {
    row["object"] = Shown(object, resource);
  } else if (presentation.include != "None") {
    row["object"] = MetadataOnly(object, presentation);
  }
  json conditions = ConditionsOf(resource, object);
  if (!conditions.is_null()) row["conditions"] = std::move(conditions);
  return row;
}

json Table(json metadata, json columns, json rows, const std::string& version) {
  return {{"kind", "Table"},
          {"apiVersion", "meta.k8s.io/" + version},
          {"metadata", std::move(metadata)},
          {"columnDefinitions", std::move(columns)},
          {"rows", std::move(rows)}};
}

/// The type as the real server's sources name it: "*rbac.Role".
std::string TypeOf(const Resource& resource, const std::string& kind) {
  std::string package = resource.group.substr(0, resource.group.find('.'));
  if (package.empty() || resource.kind == "Event") package = "core";
  return '*' + package + '.' + kind;
}

Refusal NotAcceptable(const std::string& message) { return {406, "NotAcceptable", message}; }

Refusal IsNoList(const Resource& resource) {
  if (!resource.built_in) return {500, "", "content is not a list"};
  return NotAcceptable(
      "you requested PartialObjectMetadataList, but the requested object is not a list (" +
      TypeOf(resource, resource.kind) + ')');
}

Refusal IsList(const Resource& resource) {
  const std::string type = resource.built_in ? TypeOf(resource, resource.list_kind)
                                             : std::string("*unstructured.UnstructuredList");
  return NotAcceptable("you requested PartialObjectMetadata, but the requested object is a list (" +
                       type + ')');
}

}  // namespace

void Presentation::CheckInclude() const {
  if (form != Form::kTable) return;
  for (const char* known : {"", "None", "Metadata", "Object"}) {
    if (include == known) return;
  }
  throw BadRequest("Unable to convert to Table as requested: includeObject: Invalid value: \"" +
                   include + "\": must be 'Metadata', 'Object', 'None', or empty");
}

std::string Presentation::One(const std::string& text, const Resource& resource) const {
  if (form == Form::kMetadataList) throw IsNoList(resource);
  CheckInclude();
  return InEvent(text, resource, true);
}

std::string Presentation::InEvent(const std::string& text, const Resource& resource, bool is_first,
                                  bool is_bookmark) const {
  if (form == Form::kObject) return Shown(text, resource);
  const json object = json::parse(text);
  if (form != Form::kTable) return MetadataOnly(object, *this).dump();
  Presentation with_metadata = *this;
  if (is_bookmark) with_metadata.include = "Metadata";
  const json metadata{{"resourceVersion", object["metadata"].value("resourceVersion", "")}};
  return Table(metadata, is_first ? ColumnsOf(resource) : json(),
               json::array({Row(object, resource, with_metadata)}), version)
      .dump();
}

std::string Presentation::List(const std::vector<const std::string*>& texts, const json& metadata,
                               const Resource& resource) const {
  if (form == Form::kMetadata) throw IsList(resource);
  CheckInclude();
  if (form == Form::kTable) {
    json rows = json::array();
    for (const std::string* text : texts) rows.push_back(Row(json::parse(*text), resource, *this));
    return Table(metadata, ColumnsOf(resource), std::move(rows), version).dump();
  }
  if (form == Form::kMetadataList) {
    json items;  // null where there are none
    for (const std::string* text : texts) items.push_back(MetadataOnly(json::parse(*text), *this));
    return json{{"kind", "PartialObjectMetadataList"},
                {"apiVersion", "meta.k8s.io/" + version},
                {"metadata", metadata},
                {"items", std::move(items)}}
        .dump();
  }
  std::string list = R"({"kind":")" + resource.list_kind + R"(","apiVersion":")" +
                     resource.api_version() + R"(","metadata":)" + metadata.dump() +
                     R"(,"items":[)";
  for (const std::string* text : texts) {
    if (list.back() != '[') list += ',';
    list += ShownInList(*text, resource);
  }
  return list + "]}";
}

std::string Presentation::OfAnswer(const std::string& answer, const Resource& resource) const {
  if (form == Form::kObject) return answer;
  const json shown = json::parse(answer);
  const std::string kind = shown.value("kind", "");
  if (kind == "Status") return answer;
  if (kind != resource.list_kind) return One(answer, resource);
  std::vector<std::string> items;
  for (const json& item : shown.at("items")) items.push_back(item.dump());
  std::vector<const std::string*> texts;
  for (const std::string& item : items) texts.push_back(&item);
  return List(texts, shown.at("metadata"), resource);
}

}  // namespace kopp::apiserver
