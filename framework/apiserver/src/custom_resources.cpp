#include "custom_resources.hpp"

#include "definitions.hpp"
#include "kind_rules.hpp"
#include "schema_rules.hpp"
#include "structural_schema.hpp"
#include "value_problems.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <tuple>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

std::vector<Column> ColumnsOf(const json& version) {
  std::vector<Column> columns{
      {.name = "Name", .type = "string", .format = "name", .path = ".metadata.name"}};
  json said = Said(version, "additionalPrinterColumns");
  if (said.empty()) {
    said = json::array(
        {{{"name", "Age"}, {"type", "date"}, {"jsonPath", ".metadata.creationTimestamp"}}});
  }
  for (const json& each : said) {
    const std::string path = SaidText(each, "jsonPath");
    std::string description = SaidText(each, "description");
    if (description.empty()) {
      description = "Custom resource definition column (in JSONPath format): " + path;
    }
    columns.push_back({.name = SaidText(each, "name"),
                       .type = SaidText(each, "type"),
                       .format = SaidText(each, "format"),
                       .priority = each.value("priority", 0),
                       .description = std::move(description),
                       .path = path});
  }
  return columns;
}

/// Those of all versions: an object is kept once for them all.
std::vector<std::string> SelectableOf(const json& definition) {
  std::set<std::string> paths;
  for (const json& version : definition["spec"]["versions"]) {
    for (const json& field : Said(version, "selectableFields")) {
      if (const std::string path = SaidText(field, "jsonPath"); path.starts_with('.')) {
        paths.insert(path.substr(1));
      }
    }
  }
  return {paths.begin(), paths.end()};
}

/// ".spec.replicas" as a JSON pointer; "" stays so.
std::string Pointer(std::string path) {
  std::replace(path.begin(), path.end(), '.', '/');
  return path;
}

/// What "scale" shows is no negative number.
Causes ReplicaProblems(const json& object, const json& scale) {
  Causes causes;
  for (const char* name : {"specReplicasPath", "statusReplicasPath"}) {
    const std::string path = SaidText(scale, name);
    const json::json_pointer at(Pointer(path));
    if (path.empty() || !object.contains(at) || !object.at(at).is_number()) continue;
    if (object.at(at) >= 0) continue;
    causes.push_back(InvalidValue(path, object.at(at), "should be a non-negative integer"));
  }
  return causes;
}

KindRules RulesFor(const std::shared_ptr<const Schema>& schema, bool has_status,
                   const json& scale) {
  KindRules rules;
  rules.generation =
      has_status ? KindRules::Generation::kSpec : KindRules::Generation::kSpecAndStatus;
  rules.wins_unconditionally = false;
  const auto add = [](Causes found, Causes& causes) {
    std::move(found.begin(), found.end(), std::back_inserter(causes));
  };
  rules.check = [schema, add, scale](const json& object, Causes& causes) {
    if (object.at("metadata").contains("resourceVersion")) return;  // it is no new one
    add(ValueProblems(object, *schema), causes);
    add(ReplicaProblems(object, scale), causes);
  };
  rules.check_change = [schema, add, has_status, scale](const json& before, const json& after,
                                                        Causes& causes) {
    const json& was = Said(before, "status");
    const json& is = Said(after, "status");
    const Schema* status = schema->Of("status");
    if (!has_status || was == is) {
      add(ValueProblems(after, *schema, "", &before), causes);
    } else if (status != nullptr) {
      add(ValueProblems(is, *status, "status", &was), causes);
    }
    add(ReplicaProblems(after, scale), causes);
  };
  return rules;
}

/// What clients of a deprecated version are told.
std::string WarningOf(const json& definition, const json& version) {
  if (Said(version, "deprecated") != true) return "";
  if (version.contains("deprecationWarning")) return SaidText(version, "deprecationWarning");
  const std::string group = SaidText(definition["spec"], "group");
  const std::string kind = SaidText(definition["spec"]["names"], "kind");
  std::string better;
  for (const json& other : definition["spec"]["versions"]) {
    const std::string name = SaidText(other, "name");
    if (Said(other, "served") != true || Said(other, "deprecated") == true) continue;
    if (better.empty() || IsPreferred(name, better)) better = name;
  }
  std::string warning = group + '/' + SaidText(version, "name") + ' ' + kind + " is deprecated";
  if (!better.empty()) warning += "; use " + group + '/' + better + ' ' + kind;
  return warning;
}

Resource ResourceOf(const json& definition, const json& version) {
  const json& spec = definition["spec"];
  const json& names = definition["status"]["acceptedNames"];
  const json& subresources = Said(version, "subresources");
  const json& scale = Said(subresources, "scale");
  const auto schema = StructuralSchema(version["schema"]["openAPIV3Schema"]);
  Resource resource;
  resource.group = SaidText(spec, "group");
  resource.version = SaidText(version, "name");
  resource.kind = SaidText(names, "kind");
  resource.list_kind = SaidText(names, "listKind");
  resource.plural = SaidText(names, "plural");
  resource.singular = SaidText(names, "singular");
  resource.namespaced = spec["scope"] == "Namespaced";
  resource.short_names = SaidTexts(names, "shortNames");
  resource.categories = SaidTexts(names, "categories");
  for (const char* name : {"status", "scale"}) {
    if (!Said(subresources, name).is_null()) resource.subresources.emplace_back(name);
  }
  resource.verbs = {"delete", "deletecollection", "get",    "list",
                    "patch",  "create",           "update", "watch"};
  resource.columns = ColumnsOf(version);
  resource.schema = schema.get();
  resource.scale = {.spec = Pointer(SaidText(scale, "specReplicasPath")),
                    .status = Pointer(SaidText(scale, "statusReplicasPath")),
                    .selector = Pointer(SaidText(scale, "labelSelectorPath"))};
  resource.built_in = false;
  resource.selectable = SelectableOf(definition);
  resource.kept_as = resource.qualified();
  resource.rules =
      std::make_shared<const KindRules>(RulesFor(schema, resource.Has("status"), scale));
  resource.warning = WarningOf(definition, version);
  resource.terminating = IsTerminating(definition);
  resource.refits =
      definition["metadata"].value("generation", 1) > 1 || spec["versions"].size() > 1;
  return resource;
}

}  // namespace

std::vector<Catalog::Entry> Served(const json& definition) {
  std::vector<Catalog::Entry> entries;
  for (const json& version : definition["spec"]["versions"]) {
    if (Said(version, "served") != true) continue;
    entries.push_back(std::make_shared<const Resource>(ResourceOf(definition, version)));
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return IsPreferred(a->version, b->version); });
  return entries;
}

bool IsPreferred(const std::string& a, const std::string& b) {
  static const std::regex shape("v(\\d{1,9})(?:(alpha|beta)(\\d{1,9}))?");
  const auto rank = [](const std::string& version) {
    std::smatch parts;
    if (!std::regex_match(version, parts, shape)) return std::tuple(0, 0, 0);
    const int stability = parts[2] == "alpha" ? 1 : parts[2] == "beta" ? 2 : 3;
    return std::tuple(stability, std::stoi(parts[1]), parts[3].matched ? std::stoi(parts[3]) : 0);
  };
  const auto of_a = rank(a);
  const auto of_b = rank(b);
  return of_a == of_b ? a < b : of_a > of_b;
}

}  // namespace kopp::apiserver
