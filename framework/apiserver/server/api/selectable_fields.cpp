#include "api/selectable_fields.hpp"

#include "schema/consume_until.hpp"

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

/// Adds metadata.name and metadata.namespace, which are selectable for most resources, including
/// cluster-scoped ones.
Fields WithMetadataFields(Fields fields) {
  fields.push_back({"metadata.name", ""});
  fields.push_back({"metadata.namespace", ""});
  return fields;
}

const std::map<std::string, Fields, std::less<>>& FieldsByResource() {
  static const std::map<std::string, Fields, std::less<>> fields = {
      {"pods", WithMetadataFields({{"spec.nodeName", ""},
                                   {"spec.restartPolicy", ""},
                                   {"spec.schedulerName", ""},
                                   {"spec.serviceAccountName", ""},
                                   {"spec.hostNetwork", ""},
                                   {"status.phase", ""},
                                   {"status.podIP", ""},
                                   {"status.podIPs", ""},
                                   {"status.nominatedNodeName", ""}})},
      {"events", WithMetadataFields({{"involvedObject.kind", ""},
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
       WithMetadataFields({{"regarding.kind", "involvedObject.kind"},
                           {"regarding.namespace", "involvedObject.namespace"},
                           {"regarding.name", "involvedObject.name"},
                           {"regarding.uid", "involvedObject.uid"},
                           {"regarding.apiVersion", "involvedObject.apiVersion"},
                           {"regarding.resourceVersion", "involvedObject.resourceVersion"},
                           {"regarding.fieldPath", "involvedObject.fieldPath"},
                           {"reason", ""},
                           {"reportingController", "reportingComponent"},
                           {"type", ""}})},
      {"certificatesigningrequests.certificates.k8s.io",
       {{"metadata.name", ""}, {"spec.signerName", ""}}},
      {"secrets", WithMetadataFields({{"type", ""}})},
      {"namespaces", {{"status.phase", ""}, {"name", "metadata.name"}, {"metadata.name", ""}}},
      {"nodes", {{"metadata.name", ""}, {"spec.unschedulable", ""}}},
      // The field selector is named status.successful, but the API field is status.succeeded.
      {"jobs.batch", WithMetadataFields({{"status.successful", "status.succeeded"}})},
      {"replicationcontrollers", WithMetadataFields({{"status.replicas", ""}})},
      {"services", WithMetadataFields({{"spec.clusterIP", ""}, {"spec.type", ""}})},
  };
  return fields;
}

const Fields& FieldsOf(const Resource& resource) {
  static const Fields metadata_fields = WithMetadataFields({});
  const auto& all = FieldsByResource();
  const auto found = all.find(resource.group_resource());
  return found == all.end() ? metadata_fields : found->second;
}

/// Returns the scalar at the field path `path` ("spec.nodeName") as text, or "" if there is none.
std::string ScalarAtFieldPath(const json& object, std::string_view path) {
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
        values.emplace(name, ScalarAtFieldPath(object, path.empty() ? name : path));
      }
    }
  };
  add(resource.storage_resource);
  // v1 and events.k8s.io/v1 serve the same stored Events, and each has its own field names.
  if (resource.storage_resource == "events") add("events.events.k8s.io");
  for (const std::string& path : resource.selectable_fields) {
    values.emplace(path, ScalarAtFieldPath(object, path));
  }
  return values;
}

}  // namespace kopp::apiserver
