#include "crd/yaml_writer.hpp"
#include "crd_parts.hpp"
#include "schema/crd_version_validation.hpp"
#include "schema/structural_schema_validation.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kopp {
namespace {

using detail::CrdBuilder;
using nlohmann::json;

/// One CustomResourceDefinition, to which versions are added.
struct Definition {
  std::string name;
  CrdBuilder::Parts common;  // of all versions
  std::vector<json> versions{};
};

std::string NameOf(const CrdBuilder::Parts& parts) {
  return parts.names.at("plural").get<std::string>() + '.' + parts.group;
}

[[noreturn]] void Refuse(const std::string& name, const std::string& problem) {
  throw std::logic_error("the CustomResourceDefinition " + name + " is not valid: " + problem);
}

/// Adds a version of the same kind.
void Merge(Definition& definition, CrdBuilder::Parts parts) {
  CrdBuilder::Parts& common = definition.common;
  if (common.names != parts.names || common.scope != parts.scope) {
    Refuse(definition.name,
           "its versions disagree about the kind, its names or its scope: " + common.names.dump() +
               ' ' + common.scope + " and " + parts.names.dump() + ' ' + parts.scope);
  }
  for (const json& other : definition.versions) {
    if (other["name"] != parts.version["name"]) continue;
    Refuse(definition.name, "two types describe its version " + other["name"].get<std::string>());
  }
  common.short_names.merge(parts.short_names);
  common.categories.merge(parts.categories);
  common.labels.update(parts.labels);
  common.annotations.update(parts.annotations);
  definition.versions.push_back(std::move(parts.version));
}

/// Chooses the storage version if there is only one version.
void RequireStorageVersion(Definition& definition) {
  std::vector<json>& versions = definition.versions;
  if (versions.size() == 1) versions.front()["storage"] = true;
  const auto count = std::count_if(versions.begin(), versions.end(),
                                   [](const json& version) { return version["storage"] == true; });
  if (count == 1) return;
  Refuse(definition.name, std::to_string(count) +
                              " of its versions are the storage version: write StorageVersion() in "
                              "the KOPP_CRD of exactly one");
}

/// Applies the rules of the API server to one version.
void ValidateVersion(const std::string& name, const json& version) {
  schema::FieldErrors errors =
      schema::ValidateStructuralSchema({version["schema"]["openAPIV3Schema"], "openAPIV3Schema"});
  const schema::FieldRef fields(version);
  for (const schema::FieldRef& column : fields["additionalPrinterColumns"].items()) {
    schema::ValidatePrinterColumn(column, errors);
  }
  if (const auto scale = fields["subresources"]["scale"]; scale.exists()) {
    schema::ValidateScaleSubresource(scale, errors);
  }
  if (errors.empty()) return;
  Refuse(name, "version " + version["name"].get<std::string>() + ": " + ToString(errors));
}

json ToObject(const Definition& definition) {
  const CrdBuilder::Parts& common = definition.common;
  json metadata{{"name", definition.name}};
  if (!common.labels.empty()) metadata["labels"] = common.labels;
  if (!common.annotations.empty()) metadata["annotations"] = common.annotations;
  json names = common.names;
  if (!common.short_names.empty()) names["shortNames"] = common.short_names;
  if (!common.categories.empty()) names["categories"] = common.categories;
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", std::move(metadata)},
          {"spec",
           {{"group", common.group},
            {"names", std::move(names)},
            {"scope", common.scope},
            {"versions", definition.versions}}}};
}

/// Adds the version that `parts` describes to the definition of its kind, or starts a new one.
void AddVersion(std::vector<Definition>& definitions, CrdBuilder::Parts parts) {
  const std::string name = NameOf(parts);
  const auto found =
      std::find_if(definitions.begin(), definitions.end(),
                   [&](const Definition& definition) { return definition.name == name; });
  if (found != definitions.end()) {
    Merge(*found, std::move(parts));
  } else {
    definitions.push_back({.name = name, .common = parts});
    definitions.back().versions.push_back(std::move(parts.version));
  }
}

}  // namespace

std::string CustomResourceDefinition::ToJson() const { return object_->dump(2) + '\n'; }

std::string CustomResourceDefinition::ToYaml() const { return WriteYaml(*object_); }

std::vector<CustomResourceDefinition> CustomResourceDefinition::Make(
    std::span<const detail::CrdSource> sources) {
  std::vector<Definition> definitions;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto same = [&](const detail::CrdSource& other) {
      return other.describe == sources[i].describe;
    };
    if (std::any_of(sources.begin(), std::next(sources.begin(), static_cast<std::ptrdiff_t>(i)),
                    same)) {
      continue;
    }
    CrdBuilder builder(sources[i].kind);
    sources[i].describe(builder);
    AddVersion(definitions, std::move(builder.parts()));
  }
  std::vector<CustomResourceDefinition> made;
  for (Definition& definition : definitions) {
    RequireStorageVersion(definition);
    for (const json& version : definition.versions) ValidateVersion(definition.name, version);
    made.push_back(CustomResourceDefinition(definition.name,
                                            std::make_shared<const json>(ToObject(definition))));
  }
  return made;
}

void detail::RequireOneKind(std::span<const CustomResourceDefinition> definitions) {
  if (definitions.size() == 1) return;
  std::string names;
  for (const CustomResourceDefinition& definition : definitions) {
    names += (names.empty() ? "" : ", ") + definition.name();
  }
  throw std::logic_error("CustomResourceDefinitionOf needs versions of one kind, not of " + names);
}

}  // namespace kopp
