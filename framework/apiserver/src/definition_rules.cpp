#include "definition_rules.hpp"

#include "approval.hpp"
#include "definition_parts.hpp"
#include "definitions.hpp"
#include "schema_problems.hpp"
#include "schema_rules.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

void Complete(json& definition) {
  json& spec = definition["spec"];
  json& names = spec["names"];
  if (const std::string kind = SaidText(names, "kind"); !kind.empty()) {
    if (SaidText(names, "singular").empty()) names["singular"] = Lower(kind);
    if (SaidText(names, "listKind").empty()) names["listKind"] = kind + "List";
  }
  if (!spec.contains("conversion")) spec["conversion"] = {{"strategy", "None"}};
}

/// The status as it is before anybody looked at the definition; later only what is stored counts.
void Assign(World&, const json&, json& definition) {
  const json& spec = definition["spec"];
  json& status = definition["status"];
  for (const char* name : {"conditions", "storedVersions"}) {
    if (!status.contains(name)) status[name] = nullptr;
  }
  for (const char* name : {"plural", "kind"}) {
    if (!Said(status, "acceptedNames").contains(name)) status["acceptedNames"][name] = "";
  }
  json& stored = status["storedVersions"];
  for (const json& version : Said(spec, "versions")) {
    if (Said(version, "storage") != true) continue;
    const std::string name = SaidText(version, "name");
    if (std::find(stored.begin(), stored.end(), name) == stored.end()) stored.push_back(name);
    return;
  }
}

class Checker {
 public:
  Checker(const json& definition, Causes& causes)
      : definition_(definition),
        spec_(Said(definition, "spec")),
        versions_(Said(spec_, "versions")),
        causes_(causes) {}

  void Check() {
    CheckName();
    CheckGroup();
    CheckScope();
    if (Said(spec_, "preserveUnknownFields") == true) {
      causes_.push_back(InvalidValue("spec.preserveUnknownFields", true,
                                     "cannot set to true, set x-kubernetes-preserve-unknown-fields "
                                     "to true in spec.versions[*].schema instead"));
    }
    CheckVersions();
    CheckNames();
    CheckOfAllVersions();
    CheckConversion();
    CheckStoredVersions();
    if (IsNew()) Add(ApprovalProblems(definition_));
  }

 private:
  [[nodiscard]] bool IsNew() const {
    return !Said(definition_, "metadata").contains("resourceVersion");
  }

  void CheckName() {
    if (!IsNew()) return;
    const std::string name = SaidText(Said(definition_, "metadata"), "name");
    if (name == SaidText(Said(spec_, "names"), "plural") + '.' + SaidText(spec_, "group")) return;
    causes_.push_back(
        InvalidValue("metadata.name", name, R"(must be spec.names.plural+"."+spec.group)"));
  }

  void CheckGroup() {
    const std::string group = SaidText(spec_, "group");
    if (group.empty()) {
      causes_.push_back(Required("spec.group", ""));
    } else if (const Why why = NotADnsSubdomain(group)) {
      causes_.push_back(InvalidValue("spec.group", group, *why));
    } else if (group.find('.') == std::string::npos) {
      causes_.push_back(
          InvalidValue("spec.group", group, "should be a domain with at least one dot"));
    }
  }

  void CheckScope() {
    const std::string scope = SaidText(spec_, "scope");
    if (scope.empty()) {
      causes_.push_back(Required("spec.scope", ""));
    } else if (scope != "Cluster" && scope != "Namespaced") {
      causes_.push_back(NotSupported("spec.scope", scope, {"Cluster", "Namespaced"}));
    }
  }

  /// Whether all versions say the same; then the real server speaks of the definition's own.
  [[nodiscard]] bool IsShared(const char* part) const {
    return std::all_of(versions_.begin(), versions_.end(), [&](const json& version) {
      return Said(version, part) == Said(versions_[0], part);
    });
  }

  void CheckVersions() {
    std::set<json> names;
    std::ptrdiff_t stored = 0;
    for (std::size_t i = 0; i < versions_.size(); ++i) {
      const json& version = versions_[i];
      const std::string at = "spec.versions[" + std::to_string(i) + ']';
      names.insert(SaidText(version, "name"));
      if (Said(version, "storage") == true) ++stored;
      CheckLabel(SaidText(version, "name"), at + ".name");
      if (version.contains("deprecationWarning") && Said(version, "deprecated") != true) {
        causes_.push_back(InvalidValue(at + ".deprecationWarning", version["deprecationWarning"],
                                       "can only be set for deprecated versions"));
      }
      if (!Said(version, "schema").contains("openAPIV3Schema")) {
        causes_.push_back(Required(at + ".schema.openAPIV3Schema", ""));
      } else if (!IsShared("schema")) {
        Add(SchemaProblems(version["schema"]["openAPIV3Schema"], at + ".schema.openAPIV3Schema"));
      }
      CheckPartsOf(version, at, false);
    }
    if (names.size() != versions_.size()) {
      causes_.push_back(
          InvalidValue("spec.versions", versions_, "must contain unique version names"));
    }
    if (stored != 1) {
      causes_.push_back(InvalidValue("spec.versions", versions_,
                                     "must have exactly one version marked as storage version"));
    }
    if (!versions_.empty()) CheckLabel(SaidText(versions_[0], "name"), "spec.version");
  }

  void CheckLabel(const std::string& name, const std::string& field) {
    if (const Why why = NotADns1035Label(name)) {
      causes_.push_back(InvalidValue(field, name, *why));
    }
  }

  void CheckNames() {
    const json& names = Said(spec_, "names");
    for (const char* name : {"plural", "singular", "kind", "listKind"}) {
      const std::string text = SaidText(names, name);
      const std::string field = std::string("spec.names.") + name;
      const bool is_kind = std::string(name).ends_with("ind");
      if (text.empty()) {
        causes_.push_back(Required(field, ""));
      } else if (const Why why = NotADns1035Label(is_kind ? Lower(text) : text)) {
        causes_.push_back(InvalidValue(
            field, text,
            (is_kind ? "may have mixed case, but should otherwise match: " : "") + *why));
      }
    }
    for (const char* name : {"shortNames", "categories"}) {
      const json& list = Said(names, name);
      for (std::size_t i = 0; i < list.size(); ++i) {
        CheckLabel(list[i].get<std::string>(),
                   std::string("spec.names.") + name + '[' + std::to_string(i) + ']');
      }
    }
    const std::string kind = SaidText(names, "kind");
    if (!kind.empty() && kind == SaidText(names, "listKind")) {
      causes_.push_back(
          InvalidValue("spec.names.listKind", kind, "kind and listKind may not be the same"));
    }
  }

  void CheckOfAllVersions() {
    if (versions_.empty()) return;
    const json& schema = Said(Said(versions_[0], "schema"), "openAPIV3Schema");
    if (!schema.is_null() && IsShared("schema")) {
      Add(SchemaProblems(schema, "spec.validation.openAPIV3Schema"));
    }
    CheckPartsOf(versions_[0], "spec", true);
  }

  void CheckPartsOf(const json& version, const std::string& at, bool shared) {
    if (IsShared("subresources") == shared) {
      const json& scale = Said(Said(version, "subresources"), "scale");
      if (!scale.is_null()) CheckScale(scale, at + ".subresources.scale.", causes_);
    }
    if (IsShared("additionalPrinterColumns") != shared) return;
    const json& columns = Said(version, "additionalPrinterColumns");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      CheckColumn(columns[i], at + ".additionalPrinterColumns[" + std::to_string(i) + "].",
                  causes_);
    }
  }

  void CheckConversion() {
    const json& conversion = Said(spec_, "conversion");
    const std::string strategy = SaidText(conversion, "strategy");
    if (strategy != "None" && strategy != "Webhook") {
      causes_.push_back(NotSupported("spec.conversion.strategy", strategy, {"None", "Webhook"}));
    }
    if (strategy != "Webhook") return;
    const json& webhook = Said(conversion, "webhook");
    if (!Said(webhook, "clientConfig").is_object()) {
      causes_.push_back(Required("spec.conversion.webhookClientConfig",
                                 "required when strategy is set to Webhook"));
    }
    if (Said(webhook, "conversionReviewVersions").empty()) {
      causes_.push_back(Required("spec.conversion.conversionReviewVersions", ""));
    }
  }

  void CheckStoredVersions() {
    const std::string field = "status.storedVersions";
    const json& stored = Said(Said(definition_, "status"), "storedVersions");
    if (stored.empty()) {
      causes_.push_back(InvalidValue(field, stored, "must have at least one stored version"));
      return;
    }
    std::string storage;
    std::set<json> names;
    for (const json& version : versions_) {
      names.insert(Said(version, "name"));
      if (Said(version, "storage") == true) storage = SaidText(version, "name");
    }
    if (!storage.empty() && std::find(stored.begin(), stored.end(), storage) == stored.end()) {
      causes_.push_back(InvalidValue(field, stored, "must have the storage version " + storage));
    }
    for (std::size_t i = 0; i < stored.size(); ++i) {
      if (names.contains(stored[i])) continue;
      const std::string name = stored[i].get<std::string>();
      causes_.push_back(InvalidValue(
          field + '[' + std::to_string(i) + ']', stored[i],
          "missing from spec.versions; " + name +
              " was previously a storage version, and must remain in spec.versions until a "
              "storage migration ensures no data remains persisted in " +
              name + " and removes " + name + " from status.storedVersions"));
    }
  }

  void Add(Causes more) { std::move(more.begin(), more.end(), std::back_inserter(causes_)); }

  const json& definition_;
  const json& spec_;
  const json& versions_;
  Causes& causes_;
};

void CheckDefinitionChange(const json& before, const json& after, Causes& causes) {
  if (ApprovalOf(before).message != ApprovalOf(after).message) {
    Causes more = ApprovalProblems(after);
    std::move(more.begin(), more.end(), std::back_inserter(causes));
  }
  if (!IsEstablished(before)) return;
  const auto at = [](const json& definition, const std::string& path) {
    const json::json_pointer pointer(path);
    return definition.contains(pointer) ? definition.at(pointer) : json("");
  };
  for (const std::string path :
       {"/spec/group", "/spec/scope", "/spec/names/kind", "/spec/names/plural"}) {
    if (at(before, path) == at(after, path)) continue;
    std::string field = path.substr(1);
    std::replace(field.begin(), field.end(), '/', '.');
    causes.push_back(InvalidValue(field, at(after, path), "field is immutable"));
  }
}

}  // namespace

KindRules RulesOfDefinitions() {
  KindRules rules;
  rules.generation = KindRules::Generation::kSpec;
  rules.complete = &Complete;
  rules.assign = &Assign;
  rules.check = [](const json& definition, Causes& causes) { Checker(definition, causes).Check(); };
  rules.check_change = &CheckDefinitionChange;
  return rules;
}

}  // namespace kopp::apiserver
