#include "api/resource.hpp"

#include "api/virtual_resources.hpp"
#include "decoding/data.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace kopp::apiserver {
namespace {

bool Contains(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// Parses a line PRIORITY TYPE FORMAT NAME…
Column ParseColumn(const std::string& line) {
  Column column;
  std::istringstream in(line);
  in >> column.priority >> column.type >> column.format >> std::ws;
  std::getline(in, column.name);
  if (column.format == "-") column.format.clear();
  return column;
}

/// Returns the warning for requests to a deprecated built-in kind, or "".
std::string BuiltInDeprecationWarning(const std::string& kind) {
  if (kind != "Endpoints") return {};
  return "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
}

// Parses a line GROUP/VERSION KIND PLURAL SINGULAR SCOPE [NAME=VALUE,…]…
Resource ParseResource(const std::string& line, const Schemas& schemas) {
  const std::vector<std::string> tokens = Split(line, ' ');
  if (tokens.size() < 5) throw std::invalid_argument("resources: cannot parse the line: " + line);
  Resource resource;
  const auto slash = tokens[0].find('/');
  resource.group = slash == std::string::npos ? "" : tokens[0].substr(0, slash);
  resource.version = tokens[0].substr(slash + 1);
  resource.kind = tokens[1];
  resource.list_kind = tokens[1] + "List";
  resource.plural = tokens[2];
  resource.singular = tokens[3];
  resource.namespaced = tokens[4] == "Namespaced";
  resource.verbs = {"create", "delete", "deletecollection", "get",
                    "list",   "patch",  "update",           "watch"};
  for (std::size_t i = 5; i < tokens.size(); ++i) {
    const auto equals = tokens[i].find('=');
    const std::string name = tokens[i].substr(0, equals);
    std::vector<std::string> values = Split(tokens[i].substr(equals + 1), ',');
    if (name == "short") {
      resource.short_names = std::move(values);
    } else if (name == "categories") {
      resource.categories = std::move(values);
    } else if (name == "subresources") {
      resource.subresources = std::move(values);
    } else if (name == "verbs") {
      resource.verbs = std::move(values);
    }
  }
  const std::string in_group = resource.group.substr(0, resource.group.find('.')) + '.' + tokens[1];
  resource.schema = schemas.Find(in_group);
  if (resource.schema == nullptr) resource.schema = schemas.Find(tokens[1]);
  if (resource.schema == nullptr) {
    throw std::invalid_argument("resources: no schema for " + tokens[1]);
  }
  // Both groups with the kind Event serve the same objects.
  resource.storage_resource = resource.kind == "Event" ? "events" : resource.group_resource();
  resource.deprecation_warning = BuiltInDeprecationWarning(resource.kind);
  return resource;
}

}  // namespace

bool Resource::HasSubresource(std::string_view subresource) const {
  return Contains(subresources, subresource);
}

bool Resource::SupportsVerb(std::string_view verb) const { return Contains(verbs, verb); }

std::vector<Resource> ParseResources(std::string_view text, const Schemas& schemas) {
  std::vector<Resource> resources;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != ' ') {
      resources.push_back(ParseResource(line, schemas));
    } else if (!resources.empty()) {
      resources.back().columns.push_back(ParseColumn(line));
    }
  }
  return resources;
}

Catalog Catalog::BuiltIn() {
  static const Catalog parsed = [] {
    Catalog catalog;
    for (Resource& resource : ParseResources(data::resources, Schemas::BuiltIn())) {
      if (resource.group_resource() == "pods") AddSubresource(resource, "ephemeralcontainers");
      catalog.all_.push_back(std::make_shared<const Resource>(std::move(resource)));
    }
    const std::vector<ResourcePtr>& reviews = Reviews().resources();
    catalog.all_.insert(catalog.all_.end(), reviews.begin(), reviews.end());
    return catalog;
  }();
  return parsed;
}

ResourcePtr Catalog::Find(std::string_view group, std::string_view version,
                          std::string_view plural) const {
  for (const ResourcePtr& resource : all_) {
    if (resource->plural == plural && resource->version == version && resource->group == group)
      return resource;
  }
  return nullptr;
}

ResourcePtr Catalog::FindKind(std::string_view api_version, std::string_view kind) const {
  for (const ResourcePtr& resource : all_) {
    if (resource->kind == kind && resource->api_version() == api_version) return resource;
  }
  return nullptr;
}

ResourcePtr Catalog::FindByStorageResource(std::string_view storage_resource) const {
  for (const ResourcePtr& resource : all_) {
    if (resource->storage_resource == storage_resource) return resource;
  }
  return nullptr;
}

bool Catalog::HasGroup(std::string_view group) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const ResourcePtr& resource) { return resource->group == group; });
}

bool Catalog::HasBuiltInKinds(std::string_view group) const {
  return std::any_of(all_.begin(), all_.end(), [&](const ResourcePtr& resource) {
    return resource->built_in && resource->group == group;
  });
}

bool Catalog::HasVersion(std::string_view group, std::string_view version) const {
  return std::any_of(all_.begin(), all_.end(), [&](const ResourcePtr& resource) {
    return resource->group == group && resource->version == version;
  });
}

void Catalog::SetServedVersions(const std::string& storage_resource,
                                std::vector<ResourcePtr> versions) {
  std::erase_if(all_, [&](const ResourcePtr& resource) {
    return resource->storage_resource == storage_resource;
  });
  std::move(versions.begin(), versions.end(), std::back_inserter(all_));
}

}  // namespace kopp::apiserver
