#include "resource.hpp"

#include "data.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

bool Contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> Words(const std::string& text, char between) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, between);) words.push_back(word);
  return words;
}

// PRIORITY TYPE FORMAT NAME…
Column ReadColumn(const std::string& line) {
  Column column;
  std::istringstream in(line);
  in >> column.priority >> column.type >> column.format >> std::ws;
  std::getline(in, column.name);
  if (column.format == "-") column.format.clear();
  return column;
}

// GROUP/VERSION KIND PLURAL SINGULAR SCOPE [NAME=VALUE,…]…
Resource ReadResource(const std::string& line, const Schemas& schemas) {
  const std::vector<std::string> words = Words(line, ' ');
  if (words.size() < 5) throw std::invalid_argument("resources: what is this? " + line);
  Resource resource;
  const auto slash = words[0].find('/');
  resource.group = slash == std::string::npos ? "" : words[0].substr(0, slash);
  resource.version = words[0].substr(slash + 1);
  resource.kind = words[1];
  resource.list_kind = words[1] + "List";
  resource.plural = words[2];
  resource.singular = words[3];
  resource.namespaced = words[4] == "Namespaced";
  resource.verbs = {"create", "delete", "deletecollection", "get",
                    "list",   "patch",  "update",           "watch"};
  for (std::size_t i = 5; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    std::vector<std::string> values = Words(words[i].substr(equals + 1), ',');
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
  const std::string in_group = resource.group.substr(0, resource.group.find('.')) + '.' + words[1];
  resource.schema = schemas.Find(in_group);
  if (resource.schema == nullptr) resource.schema = schemas.Find(words[1]);
  if (resource.schema == nullptr) {
    throw std::invalid_argument("resources: there is no schema of " + words[1]);
  }
  // The two kinds of Event are two faces of the same objects.
  resource.kept_as = resource.kind == "Event" ? "events" : resource.qualified();
  return resource;
}

}  // namespace

bool Resource::Has(std::string_view subresource) const {
  return Contains(subresources, subresource);
}

bool Resource::Allows(std::string_view verb) const { return Contains(verbs, verb); }

std::vector<Resource> ReadResources(std::string_view text, const Schemas& schemas) {
  std::vector<Resource> resources;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != ' ') {
      resources.push_back(ReadResource(line, schemas));
    } else if (!resources.empty()) {
      resources.back().columns.push_back(ReadColumn(line));
    }
  }
  return resources;
}

Catalog Catalog::BuiltIn() {
  Catalog catalog;
  for (Resource& resource : ReadResources(data::resources, Schemas::BuiltIn())) {
    catalog.all_.push_back(std::make_shared<const Resource>(std::move(resource)));
  }
  return catalog;
}

Catalog::Entry Catalog::Find(std::string_view group, std::string_view version,
                             std::string_view plural) const {
  for (const Entry& entry : all_) {
    if (entry->plural == plural && entry->version == version && entry->group == group) return entry;
  }
  return nullptr;
}

Catalog::Entry Catalog::FindKind(std::string_view api_version, std::string_view kind) const {
  for (const Entry& entry : all_) {
    if (entry->kind == kind && entry->api_version() == api_version) return entry;
  }
  return nullptr;
}

Catalog::Entry Catalog::FindKept(std::string_view kept_as) const {
  for (const Entry& entry : all_) {
    if (entry->kept_as == kept_as) return entry;
  }
  return nullptr;
}

bool Catalog::HasGroup(std::string_view group) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const Entry& entry) { return entry->group == group; });
}

bool Catalog::IsBuiltIn(std::string_view group) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const Entry& entry) { return entry->built_in && entry->group == group; });
}

bool Catalog::HasVersion(std::string_view group, std::string_view version) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Entry& entry) {
    return entry->group == group && entry->version == version;
  });
}

void Catalog::Serve(const std::string& kept_as, std::vector<Entry> versions) {
  std::erase_if(all_, [&](const Entry& entry) { return entry->kept_as == kept_as; });
  std::move(versions.begin(), versions.end(), std::back_inserter(all_));
}

}  // namespace kopp::apiserver
