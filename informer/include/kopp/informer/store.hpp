#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <kopp/informer/any_object.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::informer {

/// Holds the latest known state of each object of a kind: the cache of an informer. Stored objects
/// are immutable and shared with readers; an update stores a new object.
///
/// Thread-safe. Calls block only while another thread is inside a call. The informer is the only
/// writer. client-go: Store.
class AnyStore {
 public:
  using Objects = std::unordered_map<ObjectKey, AnyObject>;

  /// Returns the object, or an empty AnyObject if there is none.
  [[nodiscard]] AnyObject Get(const ObjectKey& key) const;
  /// Returns the objects of namespace `ns`, or all objects if `ns` is empty, in no particular
  /// order.
  [[nodiscard]] std::vector<AnyObject> List(std::string_view ns = {}) const;
  [[nodiscard]] std::size_t Size() const;

  /// Adds or replaces an object. Returns the replaced object, or an empty AnyObject.
  AnyObject Set(AnyObject object);
  /// Removes an object. Returns it, or an empty AnyObject.
  AnyObject Erase(const ObjectKey& key);
  /// Replaces the whole content atomically. Returns the previous content.
  Objects Replace(const std::vector<AnyObject>& list);

 private:
  mutable Guarded<Objects> objects_;
};

/// Read access to an AnyStore of objects of the view `T`. Thread-safe. Does not own the store,
/// which must outlive it.
template <Object T>
class Store {
 public:
  using Ptr = std::shared_ptr<const T>;

  explicit Store(const AnyStore& objects) : objects_(objects) {}

  /// Returns the object, or null if there is none.
  [[nodiscard]] Ptr Get(const ObjectKey& key) const { return objects_.Get(key).template As<T>(); }

  /// Returns the objects of namespace `ns`, or all objects if `ns` is empty, in no particular
  /// order.
  [[nodiscard]] std::vector<Ptr> List(std::string_view ns = {}) const {
    std::vector<Ptr> list;
    for (const AnyObject& object : objects_.List(ns)) list.push_back(object.template As<T>());
    return list;
  }

  [[nodiscard]] std::size_t Size() const { return objects_.Size(); }

 private:
  const AnyStore& objects_;
};

}  // namespace kopp::informer
