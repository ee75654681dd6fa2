#include "objects.hpp"

#include "custom_values.hpp"
#include "deletion.hpp"
#include "event_faces.hpp"
#include "metadata_rules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// A field that selectors may name, and where an object has it: "" where it is the name.
struct Selectable {
  std::string name;
  std::string path;
};
using Fields = std::vector<Selectable>;

Fields InNamespace(Fields more) {
  more.push_back({"metadata.name", ""});
  more.push_back({"metadata.namespace", ""});
  return more;
}

const std::map<std::string, Fields, std::less<>>& SelectableByResource() {
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
  static const Fields of_others = InNamespace({});
  static const Fields of_the_cluster = {{"metadata.name", ""}};
  const auto& all = SelectableByResource();
  const auto found = all.find(resource.qualified());
  if (found != all.end()) return found->second;
  return resource.namespaced || !resource.built_in ? of_others : of_the_cluster;
}

/// The value that `path` ("spec.nodeName") leads to, as text; "" where there is none.
std::string FieldAt(const json& object, std::string_view path) {
  const json* value = &object;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    const auto found = value->is_object() ? value->find(part) : value->end();
    if (!value->is_object() || found == value->end()) return "";
    value = &*found;
  }
  return value->is_string()       ? value->get<std::string>()
         : value->is_structured() ? ""
                                  : value->dump();
}

std::string Head(const Resource& resource) {
  return R"({"kind":")" + resource.kind + R"(","apiVersion":")" + resource.api_version() + '"';
}

}  // namespace

json ReadKept(const std::string& text, const Resource& resource) {
  json object = json::parse(text);
  if (resource.refits) FitToSchema(object, *resource.schema);
  return FromKept(resource, std::move(object));
}

std::string Shown(const std::string& text, const Resource& resource) {
  const bool as_kept = !resource.refits && !HasOwnFace(resource);
  const std::string kept = as_kept ? text : ReadKept(text, resource).dump();
  return Head(resource) + (kept.size() > 2 ? "," : "") + kept.substr(1);
}

std::string ShownInList(const std::string& text, const Resource& resource) {
  if (HasOwnFace(resource)) return ReadKept(text, resource).dump();
  return resource.built_in ? text : Shown(text, resource);
}

json Shown(json object, const Resource& resource) {
  if (resource.refits) FitToSchema(object, *resource.schema);
  object["kind"] = resource.kind;
  object["apiVersion"] = resource.api_version();
  return object;
}

std::vector<std::string> SelectableFields(const Resource& resource) {
  std::vector<std::string> names;
  for (const Selectable& field : FieldsOf(resource)) names.push_back(field.name);
  names.insert(names.end(), resource.selectable.begin(), resource.selectable.end());
  return names;
}

Attributes AttributesOf(const Resource& resource, const json& object) {
  Attributes attributes;
  const json& metadata = object.at("metadata");
  attributes.uid = metadata.value("uid", "");
  if (const auto labels = metadata.find("labels"); labels != metadata.end()) {
    for (const auto& [name, value] : labels->items()) {
      attributes.labels.emplace(name, value.is_string() ? value.get<std::string>() : "");
    }
  }
  if (const auto owners = metadata.find("ownerReferences"); owners != metadata.end()) {
    std::set<std::string> uids;
    for (const json& owner : *owners) {
      const std::string uid = owner.value("uid", "");
      uids.insert(uid);
      if (owner.value("blockOwnerDeletion", false)) attributes.held_up.push_back(uid);
    }
    attributes.owners.assign(uids.begin(), uids.end());
  }
  const auto finalizers = FinalizersOf(object);
  attributes.awaits_dependents =
      metadata.contains("deletionTimestamp") &&
      std::find(finalizers.begin(), finalizers.end(), kForeground) != finalizers.end();
  const auto& all = SelectableByResource();
  const auto add = [&](const std::string& key) {
    const auto found = all.find(key);
    if (found == all.end()) return;
    for (const auto& [name, path] : found->second) {
      if (name != "metadata.name" && name != "metadata.namespace") {
        attributes.fields.emplace(name, FieldAt(object, path.empty() ? name : path));
      }
    }
  };
  add(resource.kept_as);
  if (resource.kept_as == "events") add("events.events.k8s.io");
  for (const std::string& path : resource.selectable) {
    attributes.fields.emplace(path, FieldAt(object, path));
  }
  return attributes;
}

json StatusSkeleton(const Resource& resource) {
  const Schema::Field* status = resource.schema->Find("status");
  if (status == nullptr || !status->always) return json::object();
  return {{"status", Schema::Skeleton(*status->schema)}};
}

bool IsAtItsEnd(const Resource& resource, const json& object) {
  const json& metadata = object.at("metadata");
  const json::json_pointer of_namespace("/spec/finalizers");
  return metadata.contains("deletionTimestamp") && FinalizersOf(object).empty() &&
         metadata.value("deletionGracePeriodSeconds", 0) == 0 &&
         (resource.kept_as != "namespaces" || object.value(of_namespace, json::array()).empty());
}

json Success(const Resource& resource, const std::string& name, const std::string& uid) {
  json details{{"name", name}, {"kind", resource.plural}, {"uid", uid}};
  if (!resource.group.empty()) details["group"] = resource.group;
  return {{"kind", "Status"},
          {"apiVersion", "v1"},
          {"metadata", json::object()},
          {"status", "Success"},
          {"details", details}};
}

}  // namespace kopp::apiserver
