#include "handlers/object_validation.hpp"

#include "api/status.hpp"
#include "handlers/object_changes.hpp"
#include "schema/accessors.hpp"
#include "schema/finalizers.hpp"
#include "schema/metadata_validation.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Adds an error for each finalizer without a domain, or a warning if `before` does not have it.
/// Both lists are metadata.finalizers.
void CheckFinalizerDomains(const KindStrategy& strategy, const json& before, const FieldRef& after,
                           FieldErrors& errors, Warnings& warnings) {
  using Domain = KindStrategy::FinalizerDomain;
  if (strategy.finalizer_domain == Domain::kOptional) return;
  for (const FieldRef& finalizer : after.items()) {
    if (IsQualifiedFinalizer(finalizer.text())) continue;
    if (strategy.finalizer_domain == Domain::kRequired) {
      errors.push_back(
          InvalidValue(finalizer.path(), finalizer.value(),
                       "name is neither a standard finalizer name nor is it fully qualified"));
    } else if (std::find(before.begin(), before.end(), finalizer.value()) == before.end()) {
      warnings.push_back(after.path() + ": " + finalizer.value().dump() +
                         ": prefer a domain-qualified finalizer name to avoid accidental conflicts "
                         "with other finalizer writers");
    }
  }
}

/// Adds the errors of the kind's rules for an update of an object or of a subresource.
void ApplyUpdateRules(const KindStrategy& strategy, const std::string& subresource,
                      const json& live, const json& object, FieldErrors& errors) {
  using Validation = KindStrategy::UpdateValidation;
  if (const auto found = strategy.subresources.find(subresource);
      found != strategy.subresources.end()) {
    return found->second.validate_update(live, object, errors);
  }
  const bool is_status = IsStatusSubresource(subresource);
  if (!is_status && strategy.validates_generate_name_on_update)
    ValidateGenerateName(FieldRef(object)["metadata"]["generateName"], strategy.validate_name,
                         errors);
  const auto validate_change = [&] {
    if (strategy.validate_update) strategy.validate_update(live, object, errors);
  };
  const Validation validation =
      is_status ? Validation::kObjectThenChange : strategy.update_validation;
  if (validation != Validation::kObjectThenChange) validate_change();
  const auto& validate = is_status ? strategy.validate_status : strategy.validate;
  if (validate && validation != Validation::kChange) validate(object, errors);
  if (validation == Validation::kObjectThenChange) validate_change();
}

}  // namespace

void ValidateNewObject(const Resource& resource, const json& object, Warnings& warnings) {
  const KindStrategy& strategy = StrategyOf(resource);
  const FieldRef metadata = FieldRef(object)["metadata"];
  FieldErrors errors = ValidateMetadata(metadata, strategy.validate_name);
  CheckFinalizerDomains(strategy, nullptr, metadata["finalizers"], errors, warnings);
  if (strategy.validate) strategy.validate(object, errors);
  if (strategy.validate_create) strategy.validate_create(object, errors);
  if (!errors.empty()) throw Invalid(resource, metadata["name"].text(), errors);
  if (strategy.warn_create) strategy.warn_create(object, warnings);
  if (strategy.warn) strategy.warn(object, warnings);
}

void ValidateUpdatedObject(const Resource& resource, const std::string& subresource,
                           const json& live, const json& object, Warnings& warnings) {
  const KindStrategy& strategy = StrategyOf(resource);
  const FieldRef before = FieldRef(live)["metadata"];
  const FieldRef after = FieldRef(object)["metadata"];
  FieldErrors errors = ValidateMetadataUpdate(before, after);
  CheckFinalizerDomains(strategy, before["finalizers"].value(), after["finalizers"], errors,
                        warnings);
  ApplyUpdateRules(strategy, subresource, live, object, errors);
  if (!errors.empty()) throw Invalid(resource, after["name"].text(), errors);
  if (subresource == "status") {
    if (strategy.warn_status) strategy.warn_status(object, warnings);
  } else if (strategy.warn &&
             (strategy.warns_on_every_update || Field(live, "spec") != Field(object, "spec"))) {
    strategy.warn(object, warnings);
  }
}

}  // namespace kopp::apiserver
