#include "crd_parts.hpp"

#include <algorithm>
#include <cctype>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kopp::detail {
namespace {

using nlohmann::json;

constexpr const char* kApiVersionDoc =
    "APIVersion defines the versioned schema of this representation of an object.\n"
    "Servers should convert recognized schemas to the latest internal value, and\n"
    "may reject unrecognized values.\n"
    "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/"
    "api-conventions.md#resources";
constexpr const char* kKindDoc =
    "Kind is a string value representing the REST resource this object represents.\n"
    "Servers may infer this from the endpoint the client submits requests to.\n"
    "Cannot be updated.\n"
    "In CamelCase.\n"
    "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/"
    "api-conventions.md#types-kinds";

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

}  // namespace

CrdBuilder::CrdBuilder(const Kind& kind) : parts_(std::make_unique<Parts>()) {
  parts_->group = kind.group();
  parts_->scope = kind.scope == Scope::kCluster ? "Cluster" : "Namespaced";
  const std::string name(kind.kind);
  parts_->names = {{"kind", name},
                   {"listKind", name + "List"},
                   {"plural", std::string(kind.plural)},
                   {"singular", ToLower(name)}};
  json schema{{"type", "object"}};
  schema["properties"]["apiVersion"] = {{"type", "string"}, {"description", kApiVersionDoc}};
  schema["properties"]["kind"] = {{"type", "string"}, {"description", kKindDoc}};
  schema["properties"]["metadata"] = {{"type", "object"}};
  parts_->version = {{"name", std::string(kind.version())},
                     {"served", true},
                     {"storage", false},
                     {"schema", {{"openAPIV3Schema", std::move(schema)}}}};
}

CrdBuilder::~CrdBuilder() = default;

SchemaNode CrdBuilder::schema() { return SchemaNode(parts_->version["schema"]["openAPIV3Schema"]); }

void CrdBuilder::AddNames(std::string_view list, std::span<const std::string_view> names) {
  auto& all = list == "shortNames" ? parts_->short_names : parts_->categories;
  for (const std::string_view name : names) all.emplace(name);
}

void CrdBuilder::Add(const markers::Singular& marker) { parts_->names["singular"] = marker.name; }

void CrdBuilder::Add(const markers::ListKind& marker) { parts_->names["listKind"] = marker.name; }

void CrdBuilder::Add(const markers::StorageVersion& /*marker*/) {
  parts_->version["storage"] = true;
}

void CrdBuilder::Add(const markers::NotServed& /*marker*/) { parts_->version["served"] = false; }

void CrdBuilder::Add(const markers::Deprecated& marker) {
  parts_->version["deprecated"] = true;
  if (!marker.warning.empty()) parts_->version["deprecationWarning"] = marker.warning;
}

void CrdBuilder::Add(const markers::StatusSubresource& /*marker*/) {
  parts_->version["subresources"]["status"] = json::object();
}

void CrdBuilder::Add(const markers::ScaleSubresource& marker) {
  json& scale = parts_->version["subresources"]["scale"];
  scale = {{"specReplicasPath", marker.spec}, {"statusReplicasPath", marker.status}};
  if (!marker.selector.empty()) scale["labelSelectorPath"] = marker.selector;
}

void CrdBuilder::Add(const markers::SelectableField& marker) {
  parts_->version["selectableFields"].push_back({{"jsonPath", marker.path}});
}

void CrdBuilder::Add(const markers::PrintColumn& marker) {
  json column{{"name", marker.name}, {"type", marker.type}, {"jsonPath", marker.path}};
  const auto& [description, format, priority] = marker.options;
  if (!description.empty()) column["description"] = description;
  if (!format.empty()) column["format"] = format;
  if (priority != 0) column["priority"] = priority;
  parts_->version["additionalPrinterColumns"].push_back(std::move(column));
}

void CrdBuilder::Add(const markers::Annotation& marker) {
  parts_->annotations[std::string(marker.key)] = marker.value;
}

void CrdBuilder::Add(const markers::Label& marker) {
  parts_->labels[std::string(marker.key)] = marker.value;
}

}  // namespace kopp::detail
