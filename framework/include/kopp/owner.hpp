#pragma once

#include <string>
#include <utility>

#include <kopp/informer/object.hpp>

namespace kopp {

/// Metadata for a new child of `owner`: its namespace, `name`, and `owner` as its controller, so
/// that the cluster deletes the child with its owner and a controller finds the owner of the child.
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

/// Whether `owner`, and not a namesake that came before it, is the controller of `object`.
template <Object T, Object U>
[[nodiscard]] bool IsControlledBy(const T& object, const U& owner) {
  const OwnerReference* controller = ControllerOf(object.metadata);
  return controller != nullptr && controller->uid == owner.metadata.uid;
}

}  // namespace kopp
