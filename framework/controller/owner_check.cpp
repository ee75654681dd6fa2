#include "controller/owner_check.hpp"

#include "objects/owner_rules.hpp"

#include <algorithm>

#include <kopp/informer/fields.hpp>

namespace kopp {
namespace {

/// The owner references of an encoded object.
struct OwnedObject {
  struct Metadata {
    std::vector<OwnerReference> ownerReferences;
  };
  Metadata metadata;
};
KOPP_FIELDS(OwnedObject::Metadata, ownerReferences)
KOPP_FIELDS(OwnedObject, metadata)

}  // namespace

void OwnerCheck::BeforeWrite(const ObjectKey& reconciled, const Kind& kind, const ObjectKey& key,
                             std::string_view object) {
  if (object.find("\"ownerReferences\"") == std::string_view::npos) return;
  const auto owners = Decode<OwnedObject>(object).metadata.ownerReferences;
  RequireSameNamespace(reconciled, key, owners);
  ReportUnwatched(kind, owners);
}

void OwnerCheck::RequireSameNamespace(const ObjectKey& reconciled, const ObjectKey& key,
                                      const std::vector<OwnerReference>& owners) const {
  if (reconciled.ns.empty() || reconciled.ns == key.ns) return;
  const informer::AnyObject owner = options_.find(reconciled);
  if (!owner) return;
  const auto is_owner = [&](const OwnerReference& reference) {
    return reference.uid == owner.metadata().uid;
  };
  if (std::ranges::any_of(owners, is_owner)) {
    RequireValidOwner(options_.owner, owner.metadata(), key);
  }
}

void OwnerCheck::ReportUnwatched(const Kind& kind, const std::vector<OwnerReference>& owners) {
  const auto is_controller = [&](const OwnerReference& reference) {
    return reference.controller && reference.kind == options_.owner.kind &&
           Kind{reference.apiVersion}.group() == options_.owner.group();
  };
  if (std::ranges::none_of(owners, is_controller) || options_.watches(kind)) return;
  if (!logged_.Lock()->insert(std::string(kind.group()) + '/' + std::string(kind.kind)).second) {
    return;
  }
  options_.log.Info(
      "The controller writes objects that belong to its objects, but does not watch them: it does "
      "not see their changes. Add .Owns<KIND>() to it",
      {{"kind", kind.kind}});
}

}  // namespace kopp
