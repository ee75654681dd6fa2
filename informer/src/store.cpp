#include <utility>

#include <kopp/informer/store.hpp>

namespace kopp::informer {

AnyObject AnyStore::Get(const ObjectKey& key) const {
  auto objects = objects_.Lock();
  const auto found = objects->find(key);
  return found == objects->end() ? AnyObject{} : found->second;
}

std::vector<AnyObject> AnyStore::List(std::string_view ns) const {
  std::vector<AnyObject> list;
  auto objects = objects_.Lock();
  list.reserve(ns.empty() ? objects->size() : 0);
  for (const auto& [key, object] : *objects) {
    if (ns.empty() || key.ns == ns) list.push_back(object);
  }
  return list;
}

std::size_t AnyStore::Size() const { return objects_.Lock()->size(); }

AnyObject AnyStore::Set(AnyObject object) {
  ObjectKey key = object.key();
  auto objects = objects_.Lock();
  return std::exchange((*objects)[std::move(key)], std::move(object));
}

AnyObject AnyStore::Erase(const ObjectKey& key) {
  auto objects = objects_.Lock();
  const auto removed = objects->extract(key);
  return removed ? removed.mapped() : AnyObject{};
}

AnyStore::Objects AnyStore::Replace(const std::vector<AnyObject>& list) {
  Objects objects;
  objects.reserve(list.size());
  for (const AnyObject& object : list) objects.insert_or_assign(object.key(), object);
  objects_.Lock()->swap(objects);  // `objects` now has the previous content
  return objects;
}

}  // namespace kopp::informer
