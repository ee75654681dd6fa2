#include "crd/crd_validation.hpp"

#include "base/ascii.hpp"
#include "crd/crd_status.hpp"
#include "decoding/defaults.hpp"
#include "schema/accessors.hpp"
#include "schema/crd_version_validation.hpp"
#include "schema/field_ref.hpp"
#include "schema/field_validation.hpp"
#include "schema/go_quoted.hpp"
#include "schema/structural_schema_validation.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <kopp/informer/detail/names.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

void ApplyCrdDefaults(json& definition) {
  static const Schema& schema = *Schemas::BuiltIn().Find("CustomResourceDefinition");
  ApplyBuiltInDefaults(definition, schema);
  json& spec = definition["spec"];
  json& names = spec["names"];
  if (const std::string kind = StringField(names, "kind"); !kind.empty()) {
    if (StringField(names, "singular").empty()) names["singular"] = detail::ToLowerAscii(kind);
    if (StringField(names, "listKind").empty()) names["listKind"] = kind + "List";
  }
  if (!spec.contains("conversion")) spec["conversion"] = {{"strategy", "None"}};
  constexpr int kHttpsPort = 443;
  const json::json_pointer service("/conversion/webhook/clientConfig/service");
  if (spec.contains(service) && !spec[service].contains("port")) spec[service]["port"] = kHttpsPort;
}

/// Sets missing status fields, and adds the storage version to status.storedVersions.
void AssignCrdFields(ServerContext&, const json&, json& definition) {
  const json& spec = definition["spec"];
  json& status = definition["status"];
  for (const char* name : {"conditions", "storedVersions"}) {
    if (!status.contains(name)) status[name] = nullptr;
  }
  for (const char* name : {"plural", "kind"}) {
    if (!Field(status, "acceptedNames").contains(name)) status["acceptedNames"][name] = "";
  }
  json& stored = status["storedVersions"];
  for (const json& version : Field(spec, "versions")) {
    if (Field(version, "storage") != true) continue;
    const std::string name = StringField(version, "name");
    if (std::find(stored.begin(), stored.end(), name) == stored.end()) stored.push_back(name);
    return;
  }
}

class CrdValidator {
 public:
  CrdValidator(const json& definition, FieldErrors& errors)
      : definition_(definition),
        spec_(definition_["spec"]),
        versions_(spec_["versions"].items()),
        errors_(errors) {}

  void Validate() {
    ValidateMetadataName();
    ValidateGroup();
    ValidateScope();
    ValidateVersions();
    ValidateNames();
    ValidateSharedFields();
    ValidateCrdConversion(spec_, errors_);
    ValidateStoredVersions();
    if (IsNew()) Add(ValidateApproval(definition_.value()));
    if (const FieldRef preserve = spec_["preserveUnknownFields"]; preserve.is(true)) {
      errors_.push_back(InvalidValue(preserve.path(), true,
                                     "cannot set to true, set x-kubernetes-preserve-unknown-fields "
                                     "to true in spec.versions[*].schema instead"));
    }
  }

 private:
  [[nodiscard]] bool IsNew() const { return !definition_["metadata"]["resourceVersion"].exists(); }

  void ValidateMetadataName() {
    if (!IsNew()) return;
    const FieldRef name = definition_["metadata"]["name"];
    if (name.text() == spec_["names"]["plural"].text() + '.' + spec_["group"].text()) return;
    errors_.push_back(
        InvalidValue(name.path(), name.text(), R"(must be spec.names.plural+"."+spec.group)"));
  }

  void ValidateGroup() {
    const FieldRef field = spec_["group"];
    const std::string group = field.text();
    if (group.empty()) {
      errors_.push_back(Required(field.path(), ""));
    } else if (const NameError detail = ValidateDnsSubdomain(group)) {
      errors_.push_back(InvalidValue(field.path(), group, *detail));
    } else if (group.find('.') == std::string::npos) {
      errors_.push_back(
          InvalidValue(field.path(), group, "should be a domain with at least one dot"));
    }
  }

  void ValidateScope() {
    const FieldRef scope = spec_["scope"];
    if (scope.text().empty()) {
      errors_.push_back(Required(scope.path(), ""));
    } else {
      ValidateEnum(scope, {"Cluster", "Namespaced"}, errors_);
    }
  }

  /// Returns whether the field is equal in all versions. kube-apiserver then reports its errors for
  /// the CRD as a whole.
  [[nodiscard]] bool IsShared(const char* field) const {
    return std::all_of(versions_.begin(), versions_.end(), [&](const FieldRef& version) {
      return version[field].is(versions_.front()[field].value());
    });
  }

  static bool HasStatus(const FieldRef& version) {
    return version["subresources"]["status"].exists();
  }

  /// Validates the schema of a version, or of the CRD. The schema of the status is found only if
  /// the root is an object.
  void ValidateSchema(const FieldRef& schema, bool has_status) {
    if (!schema.exists()) return;
    if (const FieldRef type = schema["type"];
        has_status && !type.text().empty() && !type.is("object")) {
      errors_.push_back(InvalidValue(type.path(), type.text(),
                                     R"(only "object" is allowed as the type at the root of the )"
                                     "schema if the status subresource is enabled"));
    }
    Add(ValidateStructuralSchema(schema));
  }

  void ValidateVersion(const FieldRef& version) {
    ValidateName(version["name"], &ValidateDns1035Label, errors_);
    const FieldRef warning = version["deprecationWarning"];
    if (warning.exists() && !version["deprecated"].is(true)) {
      errors_.push_back(
          InvalidJson(warning.path(), warning.value(), "can only be set for deprecated versions"));
    } else if (warning.exists()) {
      ValidateDeprecationWarning(warning, errors_);
    }
    if (!IsShared("schema"))
      ValidateSchema(version["schema"]["openAPIV3Schema"], HasStatus(version));
    ValidateSubresourcesAndColumns(version, false);
  }

  void ValidateVersions() {
    std::set<std::string> names;
    std::ptrdiff_t storage_versions = 0;
    for (const FieldRef& version : versions_) {
      names.insert(version["name"].text());
      if (version["storage"].is(true)) ++storage_versions;
      const FieldRef schema = version["schema"]["openAPIV3Schema"];
      if (!schema.exists()) errors_.push_back(Required(schema.path(), ""));
    }
    for (const FieldRef& version : versions_) ValidateVersion(version);
    const FieldRef versions = spec_["versions"];
    if (names.size() != versions_.size()) {
      errors_.push_back(
          InvalidValue(versions.path(), versions.value(), "must contain unique version names"));
    }
    if (storage_versions != 1) {
      errors_.push_back(InvalidValue(versions.path(), versions.value(),
                                     "must have exactly one version marked as storage version"));
    }
    if (!versions_.empty() && !versions_.front()["name"].text().empty()) {
      ValidateName({versions_.front()["name"].value(), "spec.version"}, &ValidateDns1035Label,
                   errors_);
    }
  }

  void ValidateNames() {
    const FieldRef names = spec_["names"];
    for (const char* name : {"plural", "singular", "kind", "listKind"}) {
      const FieldRef field = names[name];
      const std::string text = field.text();
      const bool is_kind = std::string(name).ends_with("ind");
      if (text.empty()) {
        errors_.push_back(Required(field.path(), ""));
      } else if (const NameError detail =
                     ValidateDns1035Label(is_kind ? detail::ToLowerAscii(text) : text)) {
        errors_.push_back(InvalidValue(
            field.path(), text,
            (is_kind ? "may have mixed case, but should otherwise match: " : "") + *detail));
      }
    }
    for (const char* list : {"shortNames", "categories"}) {
      for (const FieldRef& name : names[list].items()) {
        ValidateName(name, &ValidateDns1035Label, errors_);
      }
    }
    const FieldRef list_kind = names["listKind"];
    const std::string kind = names["kind"].text();
    if (!kind.empty() && list_kind.is(kind)) {
      errors_.push_back(
          InvalidValue(list_kind.path(), kind, "kind and listKind may not be the same"));
    }
  }

  /// Validates the fields that are equal in all versions, at the paths of the CRD as a whole.
  void ValidateSharedFields() {
    if (versions_.empty()) return;
    const FieldRef version(versions_.front().value(), "spec");
    if (IsShared("schema")) {
      ValidateSchema(
          {version["schema"]["openAPIV3Schema"].value(), "spec.validation.openAPIV3Schema"},
          std::any_of(versions_.begin(), versions_.end(), &HasStatus));
    }
    ValidateSubresourcesAndColumns(version, true);
  }

  /// Validates the scale subresource, the printer columns and the selectable fields, each only if
  /// IsShared() is `shared`.
  void ValidateSubresourcesAndColumns(const FieldRef& version, bool shared) {
    if (IsShared("subresources") == shared) {
      const FieldRef scale = version["subresources"]["scale"];
      if (scale.exists()) ValidateScaleSubresource(scale, errors_);
    }
    if (IsShared("additionalPrinterColumns") == shared) {
      for (const FieldRef& column : version["additionalPrinterColumns"].items())
        ValidatePrinterColumn(column, errors_);
    }
    const FieldRef fields = version["selectableFields"];
    if (IsShared("selectableFields") != shared || fields.size() == 0) return;
    const FieldRef schema = version["schema"]["openAPIV3Schema"];
    if (shared ? version["schema"].exists() : schema.exists())
      return ValidateSelectableFields(fields, schema, errors_);
    errors_.push_back(InvalidValue(
        fields.path(), "",
        shared ? "may only be set when validations.schema is included"
               : "may only be set when `version.schema.openAPIV3Schema` is not included"));
  }

  void ValidateStoredVersions() {
    const FieldRef stored = definition_["status"]["storedVersions"];
    if (stored.size() == 0) {
      errors_.push_back(
          InvalidValue(stored.path(), stored.value(), "must have at least one stored version"));
      return;
    }
    const json& stored_names = stored.value();
    std::set<json> missing_names(stored_names.begin(), stored_names.end());
    for (const FieldRef& version : versions_) {
      // A name is found only once.
      const bool is_stored = missing_names.erase(version["name"].text()) > 0;
      if (is_stored || !version["storage"].is(true)) continue;
      errors_.push_back(InvalidValue(stored.path(), stored_names,
                                     "must have the storage version " + version["name"].text()));
    }
    for (const FieldRef& version : stored.items()) {
      if (!missing_names.contains(version.value())) continue;
      const std::string name = version.text();
      errors_.push_back(InvalidValue(
          version.path(), version.value(),
          "missing from spec.versions; " + name +
              " was previously a storage version, and must remain in spec.versions until a "
              "storage migration ensures no data remains persisted in " +
              name + " and removes " + name + " from status.storedVersions"));
    }
  }

  void Add(FieldErrors errors) {
    std::move(errors.begin(), errors.end(), std::back_inserter(errors_));
  }

  const FieldRef definition_;
  const FieldRef spec_;
  const std::vector<FieldRef> versions_;
  FieldErrors& errors_;
};

void WarnAboutFormats(const json& definition, Warnings& warnings) {
  for (const FieldRef& version : FieldRef(definition)["spec"]["versions"].items()) {
    for (const std::string& format : UnknownStringFormats(version["schema"]["openAPIV3Schema"]))
      warnings.push_back("unrecognized format " + GoQuoted(format));
  }
}

void ValidateCrdUpdate(const json& before, const json& after, FieldErrors& errors) {
  if (ApprovalOf(before).message != ApprovalOf(after).message) {
    FieldErrors approval_errors = ValidateApproval(after);
    std::move(approval_errors.begin(), approval_errors.end(), std::back_inserter(errors));
  }
  if (!IsEstablished(before)) return;
  const FieldRef old_spec = FieldRef(before)["spec"];
  const FieldRef new_spec = FieldRef(after)["spec"];
  const auto validate_immutable = [&](const FieldRef& old_field, const FieldRef& new_field) {
    if (old_field.text() == new_field.text()) return;
    errors.push_back(InvalidValue(new_field.path(), new_field.text(), "field is immutable"));
  };
  validate_immutable(old_spec["group"], new_spec["group"]);
  validate_immutable(old_spec["scope"], new_spec["scope"]);
  validate_immutable(old_spec["names"]["kind"], new_spec["names"]["kind"]);
  validate_immutable(old_spec["names"]["plural"], new_spec["names"]["plural"]);
}

}  // namespace

KindStrategy CrdStrategy() {
  KindStrategy strategy;
  strategy.generation = KindStrategy::Generation::kSpec;
  strategy.finalizer_domain = KindStrategy::FinalizerDomain::kOptional;
  strategy.allows_unconditional_update = false;
  strategy.apply_defaults = &ApplyCrdDefaults;
  strategy.assign_fields = &AssignCrdFields;
  strategy.validate = [](const json& definition, FieldErrors& errors) {
    CrdValidator(definition, errors).Validate();
  };
  strategy.validate_update = &ValidateCrdUpdate;
  strategy.warn = &WarnAboutFormats;
  return strategy;
}

}  // namespace kopp::apiserver
