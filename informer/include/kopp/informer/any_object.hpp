#pragma once

#include <memory>
#include <string>
#include <utility>

#include <kopp/informer/object.hpp>

namespace kopp::informer {

/// A type-erased std::shared_ptr<const T>, where `T` is any view struct (see the concept
/// ApiObject). It gives access to the object's metadata without knowing `T`.
///
/// An AnyObject may be empty. The object that it points to never changes, so copies may be read
/// from any thread. Reflector, store and informer work on AnyObject and are compiled once for all
/// views; their templates are thin wrappers that restore `T`.
class AnyObject {
 public:
  /// Creates an empty AnyObject.
  AnyObject() = default;
  /// Shares ownership of `object`. A null pointer gives an empty AnyObject.
  template <typename T>
    requires requires(const T& object) { ObjectMeta{object.metadata}; }
  AnyObject(std::shared_ptr<const T> object)  // NOLINT: intentionally implicit
      : metadata_(object ? &object->metadata : nullptr), object_(std::move(object)) {}

  /// Returns whether the AnyObject holds an object.
  explicit operator bool() const { return metadata_ != nullptr; }

  /// Requires: not empty.
  [[nodiscard]] const ObjectMeta& metadata() const { return *metadata_; }
  /// Requires: not empty.
  [[nodiscard]] const std::string& name() const { return metadata_->name; }
  /// Returns the namespace; empty for cluster-scoped objects. Requires: not empty.
  [[nodiscard]] const std::string& ns() const { return metadata_->ns; }
  /// Requires: not empty.
  [[nodiscard]] ObjectKey key() const { return {ns(), name()}; }

  /// Returns the object as a `T`, or null if empty. Requires: empty, or created from a `T`; the
  /// type is not checked.
  template <typename T>
  [[nodiscard]] std::shared_ptr<const T> As() const& {
    return std::static_pointer_cast<const T>(object_);
  }
  /// The same without a copy of the pointer. The AnyObject is empty afterwards.
  template <typename T>
  [[nodiscard]] std::shared_ptr<const T> As() && {
    metadata_ = nullptr;
    return std::static_pointer_cast<const T>(std::move(object_));
  }

  /// Compares identity: true if both refer to the same object in memory.
  friend bool operator==(const AnyObject& a, const AnyObject& b) {
    return a.metadata_ == b.metadata_;
  }

 private:
  const ObjectMeta* metadata_ = nullptr;
  std::shared_ptr<const void> object_;
};

}  // namespace kopp::informer
