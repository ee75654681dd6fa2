#include "auth/owner_reference_check.hpp"

#include "api/status.hpp"
#include "auth/authorizer.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const json& OwnerReferencesOf(const json& object) {
  return Field(Field(object, "metadata"), "ownerReferences");
}

bool BlocksDeletion(const json& reference) { return reference.value("blockOwnerDeletion", false); }

/// A write of an object whose owner references change.
struct ReferencesWrite {
  ServerContext& context;
  const ServerRequest& request;
  const Resource& resource;
  std::string name;  ///< of the object

  [[noreturn]] void Reject(const std::string& problem) const {
    throw Forbidden(resource, name, problem);
  }
  /// Rejects the write if the user may not do what `attributes` has.
  void Require(const AccessAttributes& attributes, const char* problem) const {
    const AccessDecision decision = Authorize(context, request.user, attributes);
    if (!decision.allowed) Reject(fmt::format("{}: {}, <nil>", problem, decision.reason));
  }
};

/// Requires the permission to update the finalizers of the owner that `reference` names.
void CheckBlockingReference(const ReferencesWrite& write, const json& reference) {
  const std::string version = StringField(reference, "apiVersion");
  const std::string kind = StringField(reference, "kind");
  const ResourcePtr owner = write.context.catalog()->FindKind(version, kind);
  if (owner == nullptr) {
    write.Reject(
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
                                    .ns = owner->namespaced ? write.request.target.ns : "",
                                    .name = StringField(reference, "name")};
  write.Require(attributes,
                "cannot set blockOwnerDeletion if an ownerReference refers to a resource you "
                "can't set finalizers on");
}

}  // namespace

void CheckOwnerReferences(ServerContext& context, const ServerRequest& request,
                          const Resource& resource, const json& before, const json& object) {
  if (!context.uses_rbac() || !context.checks_owner_references()) return;
  const json& references = OwnerReferencesOf(object);
  const json& old_references = OwnerReferencesOf(before);
  if (references == old_references || (references.empty() && old_references.empty())) return;
  const ReferencesWrite write{context, request, resource, object.at("metadata").value("name", "")};
  if (!before.is_null()) {
    write.Require(AttributesOf("delete", request.target),
                  "cannot set an ownerRef on a resource you can't delete");
  }
  for (const json& reference : references) {
    const auto blocked_before = [&](const json& old) {
      return Field(old, "uid") == Field(reference, "uid") && BlocksDeletion(old);
    };
    if (!BlocksDeletion(reference) || std::ranges::any_of(old_references, blocked_before)) continue;
    CheckBlockingReference(write, reference);
  }
}

}  // namespace kopp::apiserver
