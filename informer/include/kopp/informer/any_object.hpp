#pragma once

#include <memory>
#include <utility>

#include <kopp/informer/object.hpp>

namespace kopp::informer {

/// A shared, unchanging object whose view is known elsewhere; its metadata is in reach. Empty:
/// none.
///
/// Types are erased here, once: reflector, store and informer are compiled once for all views, and
/// their templates are thin shells.
class AnyObject {
 public:
  AnyObject() = default;
  template <Object T>
  AnyObject(std::shared_ptr<const T> object)  // NOLINT: meant to convert
      : metadata_(object ? &object->metadata : nullptr), object_(std::move(object)) {}

  explicit operator bool() const { return metadata_ != nullptr; }

  /// Requires: not empty.
  [[nodiscard]] const ObjectMeta& metadata() const { return *metadata_; }
  [[nodiscard]] ObjectKey key() const { return {metadata_->ns, metadata_->name}; }

  /// Requires: empty, or made from a `T`.
  template <Object T>
  [[nodiscard]] std::shared_ptr<const T> As() const {
    return std::static_pointer_cast<const T>(object_);
  }

  /// Whether both are the very same object.
  friend bool operator==(const AnyObject& a, const AnyObject& b) {
    return a.metadata_ == b.metadata_;
  }

 private:
  const ObjectMeta* metadata_ = nullptr;
  std::shared_ptr<const void> object_;
};

}  // namespace kopp::informer
