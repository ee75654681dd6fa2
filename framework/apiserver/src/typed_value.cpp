#include "typed_value.hpp"

#include <cassert>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const Schema unknown{};

std::string FieldStep(const std::string& name) { return "f:" + name; }

/// Of a list that is no single field: such lists know what they hold.
const Schema& ItemsOf(const Schema& list) {
  assert(list.items != nullptr);
  return *list.items;
}

/// How a value of no known type is owned: the fields of objects each by itself, lists as a whole.
bool IsParted(const Schema& schema, const json& value) {
  if (schema.type == Schema::Type::kAny) return value.is_object();
  if (value.is_object()) return schema.IsGranular();
  return value.is_array() && (schema.IsKeyed() || schema.IsSet());
}

const Schema& PartOf(const Schema& schema, const std::string& name) {
  const Schema* part = schema.Of(name);
  return part == nullptr ? unknown : *part;
}

bool IsEmpty(const json* value) { return value == nullptr || value->is_null() || value->empty(); }

/// The items of a list by their steps.
class Items {
 public:
  Items(const Schema& list, const json* value) {
    if (value == nullptr || !value->is_array()) return;
    for (const json& item : *value) in_order_.emplace_back(StepOf(list, item), &item);
    for (const auto& [step, item] : in_order_) by_step_.emplace(step, item);
  }
  Items(const Items&) = delete;
  Items& operator=(const Items&) = delete;

  [[nodiscard]] auto begin() const { return in_order_.begin(); }
  [[nodiscard]] auto end() const { return in_order_.end(); }
  /// The first of several; nullptr where there is none.
  [[nodiscard]] const json* Find(const std::string& step) const {
    const auto found = by_step_.find(step);
    return found == by_step_.end() ? nullptr : found->second;
  }

 private:
  std::vector<std::pair<std::string, const json*>> in_order_;
  std::unordered_map<std::string_view, const json*> by_step_;  // of the same texts
};

const json* Find(const json* object, const std::string& name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

/// `before` and `after` are null where there is no such value. Returns whether all below was one
/// leaf.
class Comparer {
 public:
  void Compare(const json* before, const json* after, const Schema& schema, FieldSet& added,
               FieldSet& modified, FieldSet& removed) {
    assert(before != nullptr || after != nullptr);
    const json& some = after == nullptr ? *before : *after;
    const bool parted = IsParted(schema, some) &&
                        (before == nullptr || before->is_null() || IsParted(schema, *before));
    if (!parted || (IsEmpty(before) && IsEmpty(after))) {
      if (before != nullptr && after != nullptr && *before != *after) modified.member = true;
    } else if (some.is_object()) {
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
      for (const auto& [name, value] : object->items()) names.emplace(name, &PartOf(schema, name));
    }
    for (const auto& [name, part] : names) {
      Descend(FieldStep(name), Find(before, name), Find(after, name), *part, added, modified,
              removed);
    }
  }

  void CompareLists(const json* before, const json* after, const Schema& schema, FieldSet& added,
                    FieldSet& modified, FieldSet& removed) {
    const Items old_items(schema, before);
    const Items new_items(schema, after);
    for (const auto& [step, item] : old_items) {
      Descend(step, item, new_items.Find(step), ItemsOf(schema), added, modified, removed);
    }
    for (const auto& [step, item] : new_items) {
      if (old_items.Find(step) != nullptr) continue;
      Descend(step, nullptr, item, ItemsOf(schema), added, modified, removed);
    }
  }

  void Descend(const std::string& step, const json* before, const json* after, const Schema& schema,
               FieldSet& added, FieldSet& modified, FieldSet& removed) {
    FieldSet a;
    FieldSet m;
    FieldSet r;
    Compare(before, after, schema, a, m, r);
    if (!a.empty()) added.below.emplace(step, std::move(a));
    if (!m.empty()) modified.below.emplace(step, std::move(m));
    if (!r.empty()) removed.below.emplace(step, std::move(r));
  }
};

void Collect(const json& value, const Schema& schema, FieldSet& into) {
  if (!IsParted(schema, value)) {
    if (!(value.is_null() && schema.type != Schema::Type::kAny)) into.member = true;
    return;
  }
  if (value.is_array()) {
    for (const json& item : value) {
      FieldSet& below = into.below[StepOf(schema, item)];
      Collect(item, ItemsOf(schema), below);
      below.member = true;
    }
    return;
  }
  for (const auto& [name, part] : value.items()) {
    FieldSet below;
    Collect(part, PartOf(schema, name), below);
    const bool is_field = schema.Find(name) != nullptr;
    if (part.is_null() || (part.is_object() && part.empty()) || !is_field) below.member = true;
    if (!below.empty()) into.below.emplace(FieldStep(name), std::move(below));
  }
}

// The order of the config wins for what both have; what only `live` has keeps its place in front of
// that.
json MergeLists(const json& live, const json& config, const Schema& schema) {
  const Items old_items(schema, &live);
  const Items new_items(schema, &config);
  json merged = json::array();
  std::set<std::string> placed;
  auto old_item = old_items.begin();
  const auto take_what_only_live_has = [&] {
    for (; old_item != old_items.end(); ++old_item) {
      const auto& [step, item] = *old_item;
      if (placed.contains(step)) continue;
      if (new_items.Find(step) != nullptr) return;
      merged.push_back(*item);
    }
  };
  for (const auto& [step, item] : new_items) {
    take_what_only_live_has();
    const json* old = old_items.Find(step);
    merged.push_back(old == nullptr ? *item : Merged(*old, *item, ItemsOf(schema)));
    placed.insert(step);
  }
  take_what_only_live_has();
  return merged;
}

}  // namespace

std::string StepOf(const Schema& list, const json& item) {
  if (list.IsSet()) return "v:" + item.dump();
  if (!item.is_object()) throw std::invalid_argument("an item of a list by keys is an object");
  json keys = json::object();
  for (const std::string& key : list.keys) {
    if (item.contains(key)) {
      keys[key] = item[key];
    } else if (const auto* field = ItemsOf(list).Find(key);
               field != nullptr && !field->fallback.is_null()) {
      keys[key] = field->fallback;
    }
  }
  if (keys.empty()) {
    throw std::invalid_argument("an item has none of its list's keys");
  }
  return "k:" + keys.dump();
}

FieldSet FieldsOf(const json& value, const Schema& schema) {
  FieldSet fields;
  Collect(value, schema, fields);
  return fields;
}

Comparison Compare(const json& before, const json& after, const Schema& schema) {
  Comparison found;
  Comparer().Compare(&before, &after, schema, found.added, found.modified, found.removed);
  return found;
}

json Merged(const json& live, const json& config, const Schema& schema) {
  if (!IsParted(schema, config) || !IsParted(schema, live)) return config;
  if (config.is_array()) return MergeLists(live, config, schema);
  json merged = live;
  for (const auto& [name, part] : config.items()) {
    const auto old = merged.find(name);
    if (old == merged.end()) {
      merged.emplace(name, part);
    } else {
      *old = Merged(*old, part, PartOf(schema, name));
    }
  }
  return merged;
}

json Without(const json& value, const FieldSet& fields, const Schema& schema) {
  if (!IsParted(schema, value)) return value;
  if (value.is_array()) {
    json rest = json::array();
    for (const json& item : value) {
      const FieldSet* here = fields.Find(StepOf(schema, item));
      if (here == nullptr) {
        rest.push_back(item);
      } else if (!here->member) {
        rest.push_back(Without(item, *here, ItemsOf(schema)));
      }
    }
    return rest.empty() ? json() : rest;
  }
  json rest = json::object();
  for (const auto& [name, part] : value.items()) {
    const FieldSet* here = fields.Find(FieldStep(name));
    if (here == nullptr) {
      rest.emplace(name, part);
    } else if (!here->member) {
      json left = Without(part, *here, PartOf(schema, name));
      if (!left.is_null() || part.is_null()) rest.emplace(name, std::move(left));
    }
  }
  return rest.empty() ? json() : rest;
}

FieldSet WithNamedFields(const FieldSet& fields, const Schema& schema) {
  FieldSet named;
  named.member = fields.member;
  for (const auto& [step, below] : fields.below) {
    const bool is_field = step.front() == 'f';
    const std::string name = step.substr(2);
    const Schema* part = is_field ? schema.Of(name) : schema.items;
    FieldSet inner = WithNamedFields(below, part == nullptr ? unknown : *part);
    if (is_field && schema.Find(name) != nullptr) inner.member = true;
    named.below.emplace(step, std::move(inner));
  }
  return named;
}

}  // namespace kopp::apiserver
