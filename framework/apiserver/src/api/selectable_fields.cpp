#include "api/selectable_fields.hpp"

#include "json/consume_until.hpp"

#include <string_view>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// A field that field selectors may use.
struct SelectableField {
  std::string name;
  std::string path;  ///< in the stored object; empty: the same as `name`
};
using Fields = std::vector<SelectableField>;

/// Adds the selectable fields of every namespaced resource.
Fields InNamespace(Fields fields) {
  fields.push_back({"metadata.name", ""});
  fields.push_back({"metadata.namespace", ""});
  return fields;
}

const std::map<std::string, Fields, std::less<>>& FieldsByResource() {
  static const std::map<std::string, Fields, std::less<>> fields = {
      {"pods", InNamespace({{"spec.nodeName", ""},
                            {"spec.restartPolicy", ""},
                            {"spec.schedulerName", ""},
                            {"spec.serviceAccountName", ""},
                            {"spec.hostNetwork", ""},
                            {"status.phase", ""},
                            {"status.podIP", ""},
                            {"status.podIPs", ""},
                            {"status.nominatedNodeName", ""}})},
      {"events", InNamespace({{"involvedObject.kind", ""},
                              {"involvedObject.namespace", ""},
                              {"involvedObject.name", ""},
                              {"involvedObject.uid", ""},
                              {"involvedObject.apiVersion", ""},
                              {"involvedObject.resourceVersion", ""},
                              {"involvedObject.fieldPath", ""},
                              {"reason", ""},
                              {"reportingComponent", ""},
                              {"source", "source.component"},
                              {"type", ""}})},
      {"events.events.k8s.io",
       InNamespace({{"regarding.kind", "involvedObject.kind"},
                    {"regarding.namespace", "involvedObject.namespace"},
                    {"regarding.name", "involvedObject.name"},
                    {"regarding.uid", "involvedObject.uid"},
                    {"regarding.apiVersion", "involvedObject.apiVersion"},
                    {"regarding.resourceVersion", "involvedObject.resourceVersion"},
                    {"regarding.fieldPath", "involvedObject.fieldPath"},
                    {"reason", ""},
                    {"reportingController", "reportingComponent"},
                    {"type", ""}})},
      {"secrets", InNamespace({{"type", ""}})},
      {"namespaces", {{"status.phase", ""}, {"name", "metadata.name"}, {"metadata.name", ""}}},
      {"nodes", {{"metadata.name", ""}, {"spec.unschedulable", ""}}},
      {"jobs.batch", InNamespace({{"status.successful", "status.succeeded"}})},
      {"replicationcontrollers", InNamespace({{"status.replicas", ""}})},
      {"services", InNamespace({{"spec.clusterIP", ""}, {"spec.type", ""}})},
  };
  return fields;
}

const Fields& FieldsOf(const Resource& resource) {
  static const Fields namespaced_default = InNamespace({});
  static const Fields cluster_default = {{"metadata.name", ""}};
  const auto& all = FieldsByResource();
  const auto found = all.find(resource.qualified());
  if (found != all.end()) return found->second;
  return resource.namespaced || !resource.built_in ? namespaced_default : cluster_default;
}

/// The value at `path` ("spec.nodeName") as text; "" if there is none or it is not a scalar.
std::string FieldAt(const json& object, std::string_view path) {
  const json* value = &object;
  while (!path.empty()) {
    const std::string_view name = ConsumeUntil(path, '.');
    const auto field = value->is_object() ? value->find(name) : value->end();
    if (field == value->end()) return "";
    value = &*field;
  }
  if (value->is_string()) return value->get<std::string>();
  return value->is_structured() ? "" : value->dump();
}

}  // namespace

std::vector<std::string> SelectableFields(const Resource& resource) {
  std::vector<std::string> names;
  for (const SelectableField& field : FieldsOf(resource)) names.push_back(field.name);
  names.insert(names.end(), resource.selectable_fields.begin(), resource.selectable_fields.end());
  return names;
}

std::map<std::string, std::string> SelectableFieldValues(const Resource& resource,
                                                         const json& object) {
  std::map<std::string, std::string> values;
  const auto& all = FieldsByResource();
  const auto add = [&](const std::string& key) {
    const auto found = all.find(key);
    if (found == all.end()) return;
    for (const auto& [name, path] : found->second) {
      if (name != "metadata.name" && name != "metadata.namespace") {
        values.emplace(name, FieldAt(object, path.empty() ? name : path));
      }
    }
  };
  add(resource.storage_resource);
  if (resource.storage_resource == "events") add("events.events.k8s.io");
  for (const std::string& path : resource.selectable_fields) {
    values.emplace(path, FieldAt(object, path));
  }
  return values;
}

}  // namespace kopp::apiserver
