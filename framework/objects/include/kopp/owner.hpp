#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include <kopp/informer/object.hpp>

namespace kopp {

/// Returns the metadata of a new object that `owner` controls: `name`, the owner's namespace, and
/// an owner reference with controller=true. Kubernetes deletes the object when the owner is
/// deleted, and a controller with Owns() reconciles the owner when the object changes.
/// Client::Apply throws ForeignObjectError if an object of this name exists that the owner does not
/// control. For an object that exists, or in another namespace than a cluster-scoped owner, use
/// SetControllerReference.
[[nodiscard]] ObjectMeta OwnedBy(const Kind& kind, const ObjectMeta& owner, std::string name);
/// The same for an owner whose kind is known at compile time.
template <ApiObject T>
[[nodiscard]] ObjectMeta OwnedBy(const T& owner, std::string name) {
  return OwnedBy(T::kKind, owner.metadata, std::move(name));
}

/// Returns whether `owner` is the controller of `object`. Compares uids: an earlier, deleted owner
/// with the same name does not count.
template <ApiObject T, ApiObject U>
[[nodiscard]] bool IsControlledBy(const T& object, const U& owner) {
  const OwnerReference* controller = ControllerOf(object.metadata);
  return controller != nullptr && controller->uid == owner.metadata.uid;
}

/// Thrown by SetControllerReference if the object has another controller: there can be only one.
class AlreadyOwnedError : public std::runtime_error {
 public:
  /// `object` is the namespace and name of the object.
  AlreadyOwnedError(const std::string& object, OwnerReference controller);
  /// Returns the reference to the controller that the object has.
  [[nodiscard]] const OwnerReference& controller() const { return controller_; }

 private:
  OwnerReference controller_;
};

// The functions below change metadata only; write the object afterwards. They replace a reference
// to an owner with the same API group, kind and name, whatever its version and uid, or else add
// one. They throw std::invalid_argument, and change nothing, if
// - the owner has a namespace and the object has another one,
// - the owner has a namespace and the object has none, so that it is cluster-scoped, or its
//   namespace is not set yet,
// - the owner has no uid, because it was not read from the API server.
// The garbage collector would delete an object with such a reference.

/// Makes `owner` the controller of the object with `metadata`, also if the object exists and has no
/// controller: sets an owner reference with controller=true and blockOwnerDeletion=true. Throws
/// AlreadyOwnedError if the object has another controller. Go:
/// controllerutil.SetControllerReference of controller-runtime.
void SetControllerReference(const Kind& kind, const ObjectMeta& owner, ObjectMeta& metadata);
/// The same for a whole object as JSON, for example in CreateOrUpdate. Keeps other references as
/// they are.
void SetControllerReference(const Kind& kind, const ObjectMeta& owner, nlohmann::json& object);
/// The same for an owner whose kind is known at compile time. `object` is metadata or JSON.
template <ApiObject T, typename Owned>
void SetControllerReference(const T& owner, Owned& object) {
  SetControllerReference(T::kKind, owner.metadata, object);
}

/// Makes `owner` one of the owners of the object with `metadata`, but not its controller. The
/// object is deleted when all of its owners are deleted. Go: controllerutil.SetOwnerReference.
void SetOwnerReference(const Kind& kind, const ObjectMeta& owner, ObjectMeta& metadata);
/// The same for a whole object as JSON.
void SetOwnerReference(const Kind& kind, const ObjectMeta& owner, nlohmann::json& object);
/// The same for an owner whose kind is known at compile time. `object` is metadata or JSON.
template <ApiObject T, typename Owned>
void SetOwnerReference(const T& owner, Owned& object) {
  SetOwnerReference(T::kKind, owner.metadata, object);
}

/// Removes the reference to `owner` (same API group, kind and name). Returns whether there was one.
/// Go: controllerutil.RemoveOwnerReference, which returns an error if there was none.
bool RemoveOwnerReference(const Kind& kind, const ObjectMeta& owner, ObjectMeta& metadata);

}  // namespace kopp
