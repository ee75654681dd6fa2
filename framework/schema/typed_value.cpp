#include "schema/typed_value.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kopp::schema {
namespace {

using nlohmann::json;

const Schema unspecified{};

std::string FieldPathElement(const std::string& name) { return "f:" + name; }

/// The schema of the items of a list of type map or set, which always has one.
const Schema& ItemSchema(const Schema& list) {
  assert(list.items != nullptr);
  return *list.items;
}

/// Returns whether the parts of a value can have different owners. In a value without a schema,
/// fields of objects can, but lists are atomic.
bool IsGranular(const Schema& schema, const json& value) {
  if (schema.type == Schema::Type::kAny) return value.is_object();
  if (value.is_object()) return schema.IsGranular();
  return value.is_array() && (schema.IsKeyed() || schema.IsSet());
}

const Schema& FieldSchemaOf(const Schema& schema, const std::string& name) {
  const Schema* field = schema.FieldSchema(name);
  return field == nullptr ? unspecified : *field;
}

/// Throws std::invalid_argument if a list or an object is in the place of a scalar.
void CheckScalar(const json* value, const Schema& schema) {
  const bool is_scalar =
      schema.type == Schema::Type::kString || schema.type == Schema::Type::kInteger ||
      schema.type == Schema::Type::kNumber || schema.type == Schema::Type::kBoolean;
  if (is_scalar && value != nullptr && value->is_structured())
    throw std::invalid_argument("the value is not a scalar");
}

bool IsEmpty(const json* value) { return value == nullptr || value->is_null() || value->empty(); }

/// Indexes the items of a list by their path elements.
class ItemIndex {
 public:
  using Items = std::vector<const json*>;

  ItemIndex(const Schema& list, const json* value) {
    if (value == nullptr || !value->is_array()) return;
    for (const json& item : *value) in_order_.emplace_back(PathElementOf(list, item), &item);
    for (const auto& [path_element, item] : in_order_)
      by_path_element_[path_element].push_back(item);
  }
  ItemIndex(const ItemIndex&) = delete;
  ItemIndex& operator=(const ItemIndex&) = delete;

  [[nodiscard]] auto begin() const { return in_order_.begin(); }
  [[nodiscard]] auto end() const { return in_order_.end(); }
  /// Returns all items with that path element.
  [[nodiscard]] const Items& FindAll(std::string_view path_element) const {
    static const Items none;
    const auto found = by_path_element_.find(path_element);
    return found == by_path_element_.end() ? none : found->second;
  }
  /// Returns the first item with that path element, or nullptr if there is none.
  [[nodiscard]] const json* Find(std::string_view path_element) const {
    const Items& items = FindAll(path_element);
    return items.empty() ? nullptr : items.front();
  }

 private:
  std::vector<std::pair<std::string, const json*>> in_order_;
  std::unordered_map<std::string_view, Items> by_path_element_;  // keys point to in_order_
};

const json* Find(const json* object, const std::string& name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

/// Implements Compare().
class Comparer {
 public:
  /// `before` and `after` are nullptr if the value is missing; not both are.
  void Compare(const json* before, const json* after, const Schema& schema, FieldSet& added,
               FieldSet& modified, FieldSet& removed) {
    assert(before != nullptr || after != nullptr);
    CheckScalar(before, schema);
    CheckScalar(after, schema);
    const json& present = after == nullptr ? *before : *after;
    const bool granular = IsGranular(schema, present) &&
                          (before == nullptr || before->is_null() || IsGranular(schema, *before));
    if (!granular || (IsEmpty(before) && IsEmpty(after))) {
      if (before != nullptr && after != nullptr && *before != *after) modified.member = true;
    } else if (present.is_object()) {
      CompareObjects(before, after, schema, added, modified, removed);
    } else {
      CompareLists(before, after, schema, added, modified, removed);
    }
    if (before == nullptr) added.member = true;
    if (after == nullptr) removed.member = true;
  }

 private:
  void CompareObjects(const json* before, const json* after, const Schema& schema, FieldSet& added,
                      FieldSet& modified, FieldSet& removed) {
    std::map<std::string, const Schema*> names;
    for (const json* object : {before, after}) {
      if (object == nullptr || !object->is_object()) continue;
      for (const auto& [name, value] : object->items())
        names.emplace(name, &FieldSchemaOf(schema, name));
    }
    for (const auto& [name, field] : names) {
      Descend(FieldPathElement(name), Find(before, name), Find(after, name), *field, added,
              modified, removed);
    }
  }

  void CompareLists(const json* before, const json* after, const Schema& schema, FieldSet& added,
                    FieldSet& modified, FieldSet& removed) {
    const ItemIndex old_items(schema, before);
    const ItemIndex new_items(schema, after);
    std::set<std::string_view> path_elements;
    for (const ItemIndex* items : {&old_items, &new_items}) {
      for (const auto& [path_element, item] : *items) path_elements.insert(path_element);
    }
    for (const std::string_view path_element : path_elements) {
      const ItemIndex::Items& old_same = old_items.FindAll(path_element);
      const ItemIndex::Items& new_same = new_items.FindAll(path_element);
      if (old_same.size() < 2 && new_same.size() < 2) {
        Descend(std::string(path_element), old_items.Find(path_element),
                new_items.Find(path_element), ItemSchema(schema), added, modified, removed);
      } else if (!std::ranges::equal(old_same, new_same,
                                     [](const json* a, const json* b) { return *a == *b; })) {
        CompareDuplicates(std::string(path_element), old_same, new_same, schema, added, modified,
                          removed);
      }
    }
  }

  /// Compares the items with one path element, of which at least one list has several. Duplicates
  /// have owners as a whole: their fields have none.
  void CompareDuplicates(const std::string& path_element, const ItemIndex::Items& before,
                         const ItemIndex::Items& after, const Schema& list, FieldSet& added,
                         FieldSet& modified, FieldSet& removed) {
    if (before.size() > 1 && after.size() > 1) {
      modified.children[path_element].member = true;
      return;
    }
    if (before.size() > 1) removed.children[path_element].member = true;
    if (after.size() > 1) added.children[path_element].member = true;
    const json* old_item = before.size() == 1 ? before.front() : nullptr;
    const json* new_item = after.size() == 1 ? after.front() : nullptr;
    if (old_item != nullptr || new_item != nullptr)
      Descend(path_element, old_item, new_item, ItemSchema(list), added, modified, removed);
  }

  void Descend(const std::string& path_element, const json* before, const json* after,
               const Schema& schema, FieldSet& added, FieldSet& modified, FieldSet& removed) {
    FieldSet a;
    FieldSet m;
    FieldSet r;
    Compare(before, after, schema, a, m, r);
    if (!a.empty()) added.children.emplace(path_element, std::move(a));
    if (!m.empty()) modified.children.emplace(path_element, std::move(m));
    if (!r.empty()) removed.children.emplace(path_element, std::move(r));
  }
};

/// Adds the field paths in `value` to `fields`.
void Collect(const json& value, const Schema& schema, FieldSet& fields) {
  if (!IsGranular(schema, value)) {
    if (!(value.is_null() && schema.type != Schema::Type::kAny)) fields.member = true;
    return;
  }
  if (value.is_array()) {
    for (const json& item : value) {
      FieldSet& child = fields.children[PathElementOf(schema, item)];
      Collect(item, ItemSchema(schema), child);
      child.member = true;
    }
    return;
  }
  for (const auto& [name, field] : value.items()) {
    FieldSet child;
    Collect(field, FieldSchemaOf(schema, name), child);
    const bool is_field = schema.Find(name) != nullptr;
    if (field.is_null() || (field.is_object() && field.empty()) || !is_field) child.member = true;
    if (!child.empty()) fields.children.emplace(FieldPathElement(name), std::move(child));
  }
}

/// Throws std::invalid_argument if a value cannot be an item of a set.
void RequireSetItem(const json& item) {
  if (item.is_array()) {
    throw std::invalid_argument("not supported: associative list with lists as elements");
  }
  if (item.is_null() || item.is_object()) {
    throw std::invalid_argument(
        std::string("associative list without keys has an element that's ") +
        (item.is_null() ? "an explicit null" : "a map type"));
  }
}

/// Returns the key of an item that does not contain it, or null if there is none. The keys that Go
/// always encodes have the zero value, as has the name of a LocalObjectReference.
json DefaultKey(const Schema& item, const std::string& key) {
  if (item.name == "LocalObjectReference") return "";
  const Schema::Field* const field = item.Find(key);
  if (field == nullptr) return nullptr;
  const bool is_built_in = !item.name.empty();
  if (!is_built_in || !field->required || !field->default_value.is_null())
    return field->default_value;
  return field->schema->type == Schema::Type::kString ? json("") : json(0);
}

// Items in both lists have the order of `config`. An item that is only in `live` stays before the
// item that follows it there.
json MergeLists(const json& live, const json& config, const Schema& schema) {
  const ItemIndex old_items(schema, &live);
  const ItemIndex new_items(schema, &config);
  json merged = json::array();
  std::set<std::string> placed;
  auto old_item = old_items.begin();
  const auto append_items_only_in_live = [&] {
    for (; old_item != old_items.end(); ++old_item) {
      const auto& [path_element, item] = *old_item;
      if (placed.contains(path_element)) continue;
      if (new_items.Find(path_element) != nullptr) return;
      merged.push_back(*item);
    }
  };
  for (const auto& [path_element, item] : new_items) {
    append_items_only_in_live();
    const json* old = old_items.Find(path_element);
    merged.push_back(old == nullptr ? *item : MergeValues(*old, *item, ItemSchema(schema)));
    placed.insert(path_element);
  }
  append_items_only_in_live();
  return merged;
}

}  // namespace

std::string PathElementOf(const Schema& list, const json& item) {
  if (list.IsSet()) {
    RequireSetItem(item);
    return "v:" + item.dump();
  }
  if (!item.is_object()) {
    throw std::invalid_argument(std::string("associative list with keys may not have ") +
                                (item.is_null() ? "a null element" : "non-map elements"));
  }
  json keys = json::object();
  for (const std::string& key : list.keys) {
    if (item.contains(key)) {
      keys[key] = item[key];
    } else if (json value = DefaultKey(ItemSchema(list), key); !value.is_null()) {
      keys[key] = std::move(value);
    }
  }
  if (!keys.empty()) return "k:" + keys.dump();
  std::string names;
  for (const std::string& key : list.keys) names += (names.empty() ? "" : " ") + json(key).dump();
  throw std::invalid_argument(
      "associative list with keys has an element that omits all key fields [" + names +
      "] (and doesn't have default values for any key fields)");
}

FieldSet ToFieldSet(const json& value, const Schema& schema) {
  FieldSet fields;
  Collect(value, schema, fields);
  return fields;
}

Comparison Compare(const json& before, const json& after, const Schema& schema) {
  Comparison result;
  Comparer().Compare(&before, &after, schema, result.added, result.modified, result.removed);
  return result;
}

json MergeValues(const json& live, const json& config, const Schema& schema) {
  if (config.is_null() && IsGranular(schema, live) && !live.empty()) return live;
  if (!IsGranular(schema, config) || !IsGranular(schema, live)) return config;
  if (config.is_array()) return MergeLists(live, config, schema);
  json merged = live;
  for (const auto& [name, field] : config.items()) {
    const auto old = merged.find(name);
    if (old == merged.end()) {
      merged.emplace(name, field);
    } else {
      *old = MergeValues(*old, field, FieldSchemaOf(schema, name));
    }
  }
  return merged;
}

json RemoveFields(const json& value, const FieldSet& fields, const Schema& schema) {
  if (!IsGranular(schema, value)) return value;
  if (value.is_array()) {
    json rest = json::array();
    for (const json& item : value) {
      const FieldSet* removed = fields.Find(PathElementOf(schema, item));
      if (removed == nullptr) {
        rest.push_back(item);
      } else if (!removed->member) {
        rest.push_back(RemoveFields(item, *removed, ItemSchema(schema)));
      }
    }
    return rest.empty() ? json() : rest;
  }
  json rest = json::object();
  for (const auto& [name, field] : value.items()) {
    const FieldSet* removed = fields.Find(FieldPathElement(name));
    if (removed == nullptr) {
      rest.emplace(name, field);
    } else if (!removed->member) {
      json remaining = RemoveFields(field, *removed, FieldSchemaOf(schema, name));
      if (!remaining.is_null() || field.is_null()) rest.emplace(name, std::move(remaining));
    }
  }
  return rest.empty() ? json() : rest;
}

FieldSet EnsureNamedFieldsAreMembers(const FieldSet& fields, const Schema& schema) {
  FieldSet named;
  named.member = fields.member;
  for (const auto& [path_element, child] : fields.children) {
    const bool is_field = path_element.front() == 'f';
    const std::string name = path_element.substr(2);
    const Schema* field = is_field ? schema.FieldSchema(name) : schema.items;
    FieldSet named_child =
        EnsureNamedFieldsAreMembers(child, field == nullptr ? unspecified : *field);
    if (is_field && schema.Find(name) != nullptr) named_child.member = true;
    named.children.emplace(path_element, std::move(named_child));
  }
  return named;
}

}  // namespace kopp::schema
