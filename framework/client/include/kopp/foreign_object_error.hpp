#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include <kopp/informer/object.hpp>

namespace kopp {

/// A label that a person sets to "true" on an object, so that the owner of an applied object with
/// this name may take the existing one over. It has no effect on an object that another owner
/// controls.
inline constexpr const char* kAdoptLabel = "kopp/adopt";

/// Thrown by Client::Apply, Update and Replace for an object that an owner controls (see OwnedBy),
/// if an object of this name exists that the owner does not control. Nothing was written. what()
/// says what to do. In a reconciler let it escape: the error is logged, a Warning Event
/// "ErrResourceExists" is recorded, and the key is retried with back-off.
class ForeignObjectError : public std::runtime_error {
 public:
  /// `owner` should control the object `key`; `controller` controls it, if any object does.
  ForeignObjectError(const Kind& kind, const ObjectKey& key, const OwnerReference& owner,
                     std::optional<OwnerReference> controller);
  /// Returns the reference to the controller of the existing object; nullopt if it has none.
  [[nodiscard]] const std::optional<OwnerReference>& controller() const { return controller_; }
  /// Returns whether the controller is a former object with the owner's name, so the garbage
  /// collector deletes the existing object. A reconcile that throws this error is no error line and
  /// no Event until it has been retried several times.
  [[nodiscard]] bool belongs_to_former_owner() const { return belongs_to_former_owner_; }

 private:
  std::optional<OwnerReference> controller_;
  bool belongs_to_former_owner_;
};

}  // namespace kopp
