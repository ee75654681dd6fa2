#include "auth/owner_reference_check.hpp"

#include "api/status.hpp"
#include "auth/authorizer.hpp"
#include "schema/field_ref.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

bool BlocksDeletion(const FieldRef& reference) { return reference["blockOwnerDeletion"].is(true); }

/// Checks a write of an object whose owner references change.
struct OwnerReferenceCheck {
  ServerContext& context;
  const WriteRequest& write;
  std::string name;  ///< of the object

  [[noreturn]] void Reject(const std::string& problem) const {
    throw Forbidden(write.resource, name, problem);
  }
  /// Rejects the write if the user may not do what `attributes` has.
  void Require(const AccessAttributes& attributes, const char* problem) const {
    const AccessDecision decision = Authorize(context, write.user, attributes);
    if (!decision.allowed) Reject(fmt::format("{}: {}, <nil>", problem, decision.reason));
  }
};

/// Requires the permission to update the finalizers of the owner that `reference` names.
void CheckBlockingReference(const OwnerReferenceCheck& check, const FieldRef& reference) {
  const std::string version = reference["apiVersion"].text();
  const std::string kind = reference["kind"].text();
  const ResourcePtr owner = check.context.catalog()->FindKind(version, kind);
  if (owner == nullptr) {
    check.Reject(
        fmt::format("cannot set blockOwnerDeletion in this case because cannot find "
                    "RESTMapping for APIVersion {} Kind {}: no matches for kind \"{}\" "
                    "in version \"{}\"",
                    version, kind, kind, version));
  }
  const AccessAttributes attributes{.verb = "update",
                                    .group = owner->group,
                                    .version = owner->version,
                                    .resource = owner->plural,
                                    .subresource = "finalizers",
                                    .ns = owner->namespaced ? check.write.target.ns : "",
                                    .name = reference["name"].text()};
  check.Require(attributes,
                "cannot set blockOwnerDeletion if an ownerReference refers to a resource you "
                "can't set finalizers on");
}

}  // namespace

void CheckOwnerReferences(ServerContext& context, const WriteRequest& write, const json& before,
                          const json& object) {
  if (!context.uses_rbac() || !context.checks_owner_references()) return;
  const FieldRef metadata = FieldRef(object)["metadata"];
  const FieldRef references = metadata["ownerReferences"];
  const FieldRef old_references = FieldRef(before)["metadata"]["ownerReferences"];
  if (references.is(old_references.value())) return;
  if (references.size() == 0 && old_references.size() == 0) return;
  const OwnerReferenceCheck check{context, write, metadata["name"].text()};
  if (!before.is_null()) {
    check.Require(AttributesOf("delete", write.target),
                  "cannot set an ownerRef on a resource you can't delete");
  }
  for (const FieldRef& reference : references.items()) {
    const auto blocked_before = [&](const FieldRef& old) {
      return old["uid"].is(reference["uid"].value()) && BlocksDeletion(old);
    };
    if (!BlocksDeletion(reference)) continue;
    if (std::ranges::any_of(old_references.items(), blocked_before)) continue;
    CheckBlockingReference(check, reference);
  }
}

}  // namespace kopp::apiserver
