#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <kopp/informer/object.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::informer {

/// The newest known state of each object of a kind. Objects are shared and never change; a newer
/// state is another object.
///
/// Any thread may read, at any time, without waiting for anything but another reader or writer. One
/// thread writes: the informer's.
template <Object T>
class Store {
 public:
  using Ptr = std::shared_ptr<const T>;

  /// Null when there is no such object.
  [[nodiscard]] Ptr Get(const ObjectKey& key) const {
    auto objects = objects_.Lock();
    const auto found = objects->find(key);
    return found == objects->end() ? nullptr : found->second;
  }

  /// All objects, or those of one namespace, in no order.
  [[nodiscard]] std::vector<Ptr> List(std::string_view ns = {}) const {
    std::vector<Ptr> list;
    auto objects = objects_.Lock();
    list.reserve(ns.empty() ? objects->size() : 0);
    for (const auto& [key, object] : *objects) {
      if (ns.empty() || key.ns == ns) list.push_back(object);
    }
    return list;
  }

  [[nodiscard]] std::size_t Size() const { return objects_.Lock()->size(); }

  /// Puts `object` in the place of the one with its key; returns that one, or null.
  Ptr Set(Ptr object) {
    ObjectKey key = KeyOf(*object);
    auto objects = objects_.Lock();
    return std::exchange((*objects)[std::move(key)], std::move(object));
  }

  /// Returns the object that went, or null.
  Ptr Erase(const ObjectKey& key) {
    auto objects = objects_.Lock();
    const auto found = objects->find(key);
    if (found == objects->end()) return nullptr;
    Ptr gone = std::move(found->second);
    objects->erase(found);
    return gone;
  }

  /// Makes `list` the whole content in one step; returns what was there before.
  std::unordered_map<ObjectKey, Ptr> Replace(const std::vector<Ptr>& list) {
    std::unordered_map<ObjectKey, Ptr> content;
    content.reserve(list.size());
    for (const Ptr& object : list) content.insert_or_assign(KeyOf(*object), object);
    objects_.Lock()->swap(content);
    return content;
  }

 private:
  mutable Guarded<std::unordered_map<ObjectKey, Ptr>> objects_;
};

}  // namespace kopp::informer
