#include "definitions.hpp"

#include "kind_rules.hpp"
#include "metadata_rules.hpp"
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

constexpr const char* kCleanup = "customresourcecleanup.apiextensions.k8s.io";

std::string Text(const json& object, const char* name) {
  const json& value = Said(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

std::vector<std::string> Texts(const json& object, const char* name) {
  const json& value = Said(object, name);
  return value.is_array() ? value.get<std::vector<std::string>>() : std::vector<std::string>();
}

bool IsTrue(const json& definition, const std::string& type) {
  const json& conditions = Said(Said(definition, "status"), "conditions");
  return std::any_of(conditions.begin(), conditions.end(), [&](const json& condition) {
    return condition["type"] == type && condition["status"] == "True";
  });
}

/// The names that others have: of resources and of kinds, which do not mix.
struct Taken {
  std::set<std::string> resources{};
  std::set<std::string> kinds{};
};

Taken NamesOf(const std::vector<json>& definitions) {
  Taken taken;
  for (const json& definition : definitions) {
    const json& names = Said(Said(definition, "status"), "acceptedNames");
    for (const char* name : {"plural", "singular"}) taken.resources.insert(Text(names, name));
    for (const std::string& name : Texts(names, "shortNames")) taken.resources.insert(name);
    for (const char* name : {"kind", "listKind"}) taken.kinds.insert(Text(names, name));
  }
  return taken;
}

struct NameConflict {
  std::string reason{};
  std::string message{};
};

/// `accepted` gets the names of `wanted` that nobody else has. Returns the last conflict.
NameConflict Accept(const json& wanted, const Taken& taken, json& accepted) {
  struct Name {
    const char* name;
    const char* reason;
    const std::set<std::string>& taken;
  };
  const Name names[] = {{"plural", "PluralConflict", taken.resources},
                        {"singular", "SingularConflict", taken.resources},
                        {"shortNames", "ShortNamesConflict", taken.resources},
                        {"kind", "KindConflict", taken.kinds},
                        {"listKind", "ListKindConflict", taken.kinds}};
  NameConflict conflict;
  for (const auto& [name, reason, others] : names) {
    std::vector<std::string> all = Texts(wanted, name);
    if (all.empty()) all = {Text(wanted, name)};
    std::string message;
    for (const std::string& each : all) {
      if (each.empty() || !others.contains(each)) continue;
      message += (message.empty() ? "" : ", ") + json(each).dump() + " is already in use";
    }
    if (!message.empty()) {
      conflict = {reason, all.size() > 1 && message.find(", ") != std::string::npos
                              ? '[' + message + ']'
                              : message};
    } else if (wanted.contains(name)) {
      accepted[name] = wanted[name];
    } else {
      accepted.erase(name);
    }
  }
  accepted.erase("categories");
  if (wanted.contains("categories")) accepted["categories"] = wanted["categories"];
  return conflict;
}

std::vector<Column> ColumnsOf(const json& version) {
  std::vector<Column> columns{
      {.name = "Name", .type = "string", .format = "name", .path = ".metadata.name"}};
  json said = Said(version, "additionalPrinterColumns");
  if (said.empty()) {
    said = json::array(
        {{{"name", "Age"}, {"type", "date"}, {"jsonPath", ".metadata.creationTimestamp"}}});
  }
  for (const json& each : said) {
    const std::string path = Text(each, "jsonPath");
    std::string description = Text(each, "description");
    if (description.empty()) {
      description = "Custom resource definition column (in JSONPath format): " + path;
    }
    columns.push_back({.name = Text(each, "name"),
                       .type = Text(each, "type"),
                       .format = Text(each, "format"),
                       .priority = each.value("priority", 0),
                       .description = std::move(description),
                       .path = path});
  }
  return columns;
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
    const std::string path = Text(scale, name);
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
  if (version.contains("deprecationWarning")) return Text(version, "deprecationWarning");
  const std::string group = Text(definition["spec"], "group");
  const std::string kind = Text(definition["spec"]["names"], "kind");
  std::string better;
  for (const json& other : definition["spec"]["versions"]) {
    const std::string name = Text(other, "name");
    if (Said(other, "served") != true || Said(other, "deprecated") == true) continue;
    if (better.empty() || IsPreferred(name, better)) better = name;
  }
  std::string warning = group + '/' + Text(version, "name") + ' ' + kind + " is deprecated";
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
  resource.group = Text(spec, "group");
  resource.version = Text(version, "name");
  resource.kind = Text(names, "kind");
  resource.list_kind = Text(names, "listKind");
  resource.plural = Text(names, "plural");
  resource.singular = Text(names, "singular");
  resource.namespaced = spec["scope"] == "Namespaced";
  resource.short_names = Texts(names, "shortNames");
  resource.categories = Texts(names, "categories");
  for (const char* name : {"status", "scale"}) {
    if (!Said(subresources, name).is_null()) resource.subresources.emplace_back(name);
  }
  resource.verbs = {"delete", "deletecollection", "get",    "list",
                    "patch",  "create",           "update", "watch"};
  resource.columns = ColumnsOf(version);
  resource.schema = schema.get();
  resource.scale = {.spec = Pointer(Text(scale, "specReplicasPath")),
                    .status = Pointer(Text(scale, "statusReplicasPath")),
                    .selector = Pointer(Text(scale, "labelSelectorPath"))};
  resource.built_in = false;
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

bool IsEstablished(const json& definition) { return IsTrue(definition, "Established"); }

bool IsTerminating(const json& definition) {
  return Said(definition, "metadata").contains("deletionTimestamp");
}

void SetCondition(json& definition, const std::string& type, const std::string& status,
                  const std::string& reason, const std::string& message, const std::string& now) {
  json& conditions = definition["status"]["conditions"];
  const json wanted{{"type", type},
                    {"status", status},
                    {"reason", reason},
                    {"message", message},
                    {"lastTransitionTime", now}};
  for (json& condition : conditions) {
    if (condition["type"] != type) continue;
    const json since = condition["lastTransitionTime"];
    const bool changes = condition["status"] != status;
    condition = wanted;
    if (!changes) condition["lastTransitionTime"] = since;
    return;
  }
  conditions.push_back(wanted);
}

json Judged(json definition, const std::vector<json>& others, const std::string& now) {
  const NameConflict conflict =
      Accept(definition["spec"]["names"], NamesOf(others), definition["status"]["acceptedNames"]);
  const bool accepted = conflict.reason.empty();
  if (accepted) {
    SetCondition(definition, "NamesAccepted", "True", "NoConflicts", "no conflicts found", now);
  } else {
    SetCondition(definition, "NamesAccepted", "False", conflict.reason, conflict.message, now);
  }
  if (IsEstablished(definition)) return definition;
  if (accepted) {
    SetCondition(definition, "Established", "True", "InitialNamesAccepted",
                 "the initial names have been accepted", now);
  } else {
    SetCondition(definition, "Established", "False", "NotAccepted", "not all names are accepted",
                 now);
  }
  return definition;
}

json Terminated(json definition, const std::string& now) {
  if (IsTerminating(definition)) return definition;
  json& metadata = definition["metadata"];
  if (!HasCleanup(definition)) metadata["finalizers"].push_back(kCleanup);
  metadata["deletionTimestamp"] = now;
  SetCondition(definition, "Terminating", "True", "InstanceDeletionPending",
               "CustomResourceDefinition marked for deletion; CustomResource deletion will begin "
               "soon",
               now);
  return definition;
}

bool HasCleanup(const json& definition) {
  const std::vector<std::string> finalizers = FinalizersOf(definition);
  return std::find(finalizers.begin(), finalizers.end(), kCleanup) != finalizers.end();
}

json WithoutCleanup(json definition) {
  json& finalizers = definition["metadata"]["finalizers"];
  finalizers.erase(std::remove(finalizers.begin(), finalizers.end(), kCleanup), finalizers.end());
  if (finalizers.empty()) definition["metadata"].erase("finalizers");
  return definition;
}

std::vector<Catalog::Entry> Served(const json& definition) {
  std::vector<Catalog::Entry> entries;
  for (const json& version : definition["spec"]["versions"]) {
    if (version["served"] != true) continue;
    entries.push_back(std::make_shared<const Resource>(ResourceOf(definition, version)));
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return IsPreferred(a->version, b->version); });
  return entries;
}

bool IsPreferred(const std::string& a, const std::string& b) {
  static const std::regex kVersion("v(\\d{1,9})(?:(alpha|beta)(\\d{1,9}))?");
  const auto rank = [](const std::string& version) {
    std::smatch parts;
    if (!std::regex_match(version, parts, kVersion)) return std::tuple(0, 0, 0);
    const int stability = parts[2] == "alpha" ? 1 : parts[2] == "beta" ? 2 : 3;
    return std::tuple(stability, std::stoi(parts[1]), parts[3].matched ? std::stoi(parts[3]) : 0);
  };
  const auto of_a = rank(a);
  const auto of_b = rank(b);
  return of_a == of_b ? a < b : of_a > of_b;
}

}  // namespace kopp::apiserver
