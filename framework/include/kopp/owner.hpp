#pragma once

#include <string>
#include <utility>

#include <kopp/informer/object.hpp>

namespace kopp {

/// Returns the metadata of a new object that `owner` controls: `name`, the owner's namespace, and
/// an owner reference with controller=true. Kubernetes deletes the object when the owner is
/// deleted, and a controller with Owns() reconciles the owner when the object changes.
template <Object T>
[[nodiscard]] ObjectMeta OwnedBy(const T& owner, std::string name) {
  ObjectMeta metadata;
  metadata.name = std::move(name);
  metadata.ns = owner.metadata.ns;
  metadata.ownerReferences.push_back({.apiVersion = std::string(T::kKind.api_version),
                                      .kind = std::string(T::kKind.kind),
                                      .name = owner.metadata.name,
                                      .uid = owner.metadata.uid,
                                      .controller = true,
                                      .blockOwnerDeletion = true});
  return metadata;
}

/// Returns whether `owner` is the controller of `object`. Compares uids: an earlier, deleted owner
/// with the same name does not count.
template <Object T, Object U>
[[nodiscard]] bool IsControlledBy(const T& object, const U& owner) {
  const OwnerReference* controller = ControllerOf(object.metadata);
  return controller != nullptr && controller->uid == owner.metadata.uid;
}

}  // namespace kopp
