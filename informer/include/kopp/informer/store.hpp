#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <kopp/informer/any_object.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::informer {

/// The newest known state of each object of a kind. Objects are shared and never change; a newer
/// state is another object.
///
/// Any thread may read, at any time, without waiting for anything but another reader or writer. One
/// thread writes: the informer's.
class AnyStore {
 public:
  using Objects = std::unordered_map<ObjectKey, AnyObject>;

  /// Empty when there is no such object.
  [[nodiscard]] AnyObject Get(const ObjectKey& key) const;
  /// All objects, or those of one namespace, in no order.
  [[nodiscard]] std::vector<AnyObject> List(std::string_view ns = {}) const;
  [[nodiscard]] std::size_t Size() const;

  /// Puts `object` in the place of the one with its key; returns that one.
  AnyObject Set(AnyObject object);
  /// Returns the object that went.
  AnyObject Erase(const ObjectKey& key);
  /// Makes `list` the whole content in one step; returns what was there before.
  Objects Replace(const std::vector<AnyObject>& list);

 private:
  mutable Guarded<Objects> objects_;
};

/// Reads an AnyStore of objects of the view `T`, which outlives it.
template <Object T>
class Store {
 public:
  using Ptr = std::shared_ptr<const T>;

  explicit Store(const AnyStore& objects) : objects_(objects) {}

  /// Null when there is no such object.
  [[nodiscard]] Ptr Get(const ObjectKey& key) const { return objects_.Get(key).template As<T>(); }

  /// All objects, or those of one namespace, in no order.
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
