#include "base/quoted.hpp"
#include "objects/owner_rules.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/owner.hpp>

namespace kopp {
namespace {

using detail::Quoted;
using nlohmann::json;

std::string_view GroupOf(const OwnerReference& reference) {
  return Kind{.api_version = reference.apiVersion}.group();
}

/// Compares group, kind and name, as controller-runtime does.
bool IsSameOwner(const OwnerReference& a, const OwnerReference& b) {
  return GroupOf(a) == GroupOf(b) && a.kind == b.kind && a.name == b.name;
}

OwnerReference NewReference(const Kind& kind, const ObjectMeta& owner, bool controller) {
  return {.apiVersion = std::string(kind.api_version),
          .kind = std::string(kind.kind),
          .name = owner.name,
          .uid = owner.uid,
          .controller = controller,
          .blockOwnerDeletion = controller};
}

/// Throws AlreadyOwnedError if another object than `owner` controls `object`.
void RequireNoOtherController(const std::vector<OwnerReference>& references,
                              const OwnerReference& owner, const ObjectKey& object) {
  const auto found = std::ranges::find_if(references, &OwnerReference::controller);
  if (found == references.end() || IsSameOwner(*found, owner)) return;
  throw AlreadyOwnedError(object.ToString(), *found);
}

/// Returns the position of the reference to the same owner, or the end.
auto FindOwner(const std::vector<OwnerReference>& references, const OwnerReference& owner) {
  return std::ranges::find_if(
      references, [&](const OwnerReference& other) { return IsSameOwner(other, owner); });
}

/// Returns the position in `references` that `owner` has to have. Checks that it is allowed.
std::size_t PositionFor(const std::vector<OwnerReference>& references, const OwnerReference& owner,
                        const ObjectKey& object) {
  if (owner.controller) RequireNoOtherController(references, owner, object);
  return static_cast<std::size_t>(FindOwner(references, owner) - references.begin());
}

void SetReference(const Kind& kind, const ObjectMeta& owner, bool controller,
                  ObjectMeta& metadata) {
  const ObjectKey object{metadata.ns, metadata.name};
  RequireValidOwner(kind, owner, object);
  const OwnerReference reference = NewReference(kind, owner, controller);
  const std::size_t position = PositionFor(metadata.ownerReferences.get(), reference, object);
  auto& references = metadata.ownerReferences.Mutable();
  if (position == references.size()) references.emplace_back();
  references[position] = reference;
}

void SetReference(const Kind& kind, const ObjectMeta& owner, bool controller, json& object) {
  const json metadata = object.value("metadata", json::object());
  const ObjectKey key{metadata.value("namespace", ""), metadata.value("name", "")};
  RequireValidOwner(kind, owner, key);
  const json references = metadata.value("ownerReferences", json::array());
  const OwnerReference reference = NewReference(kind, owner, controller);
  const std::size_t position =
      PositionFor(references.get<std::vector<OwnerReference>>(), reference, key);
  json& changed = object["metadata"]["ownerReferences"];
  if (position == references.size()) {
    changed.push_back(reference);
  } else {
    changed[position] = reference;
  }
}

}  // namespace

void RequireValidOwner(const Kind& kind, const ObjectMeta& owner, const ObjectKey& object) {
  constexpr const char* kOtherwise =
      "; otherwise write no owner reference, and delete the object in a finalizer of the owner";
  const std::string names = std::string(kind.kind) + ' ' +
                            ObjectKey{owner.ns, owner.name}.ToString() + " cannot own " +
                            object.ToString() + ": ";
  if (owner.uid.empty()) {
    throw std::invalid_argument(names + "it has no uid; read it from the API server first");
  }
  if (owner.ns.empty() || owner.ns == object.ns) return;
  if (object.ns.empty()) {
    throw std::invalid_argument(names +
                                "a cluster-scoped object cannot have an owner in a namespace, "
                                "Kubernetes would delete it; set metadata.namespace to " +
                                Quoted(owner.ns) + " if the object has a namespace" + kOtherwise);
  }
  throw std::invalid_argument(names +
                              "an owner must be in the namespace of its object, or Kubernetes "
                              "deletes the object; set metadata.namespace to " +
                              Quoted(owner.ns) + kOtherwise);
}

AlreadyOwnedError::AlreadyOwnedError(const std::string& object, OwnerReference controller)
    : std::runtime_error(object + " is already controlled by " + controller.kind + ' ' +
                         controller.name + ": delete one of the two, or give the object another " +
                         "name"),
      controller_(std::move(controller)) {}

ObjectMeta OwnedBy(const Kind& kind, const ObjectMeta& owner, std::string name) {
  ObjectMeta metadata;
  metadata.name = std::move(name);
  metadata.ns = owner.ns;
  metadata.ownerReferences.push_back(NewReference(kind, owner, /*controller=*/true));
  return metadata;
}

void SetControllerReference(const Kind& kind, const ObjectMeta& owner, ObjectMeta& metadata) {
  SetReference(kind, owner, true, metadata);
}

void SetControllerReference(const Kind& kind, const ObjectMeta& owner, json& object) {
  SetReference(kind, owner, true, object);
}

void SetOwnerReference(const Kind& kind, const ObjectMeta& owner, ObjectMeta& metadata) {
  SetReference(kind, owner, false, metadata);
}

void SetOwnerReference(const Kind& kind, const ObjectMeta& owner, json& object) {
  SetReference(kind, owner, false, object);
}

bool RemoveOwnerReference(const Kind& kind, const ObjectMeta& owner, ObjectMeta& metadata) {
  const auto found =
      FindOwner(metadata.ownerReferences.get(), NewReference(kind, owner, /*controller=*/false));
  const auto position = found - metadata.ownerReferences.get().begin();
  if (found == metadata.ownerReferences.get().end()) return false;
  auto& references = metadata.ownerReferences.Mutable();
  references.erase(references.begin() + position);
  return true;
}

}  // namespace kopp
