#include "api/strategic_merge_patch.hpp"

#include "api/status.hpp"
#include "api/strategic_merge_list.hpp"
#include "json/go_values.hpp"

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using PatchStrategy = Schema::PatchStrategy;

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kOrderPrefix = "$setElementOrder";
constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList";

/// Returns LIST of the directive "PREFIX/LIST".
std::string ListNameOf(const std::string& directive, std::string_view prefix, const char* error) {
  if (directive.size() <= prefix.size() || directive[prefix.size()] != '/') throw BadRequest(error);
  return directive.substr(prefix.size() + 1);
}

/// Finds the field of an object that a patch merges.
const Schema::Field& FindField(const Schema& schema, const std::string& name) {
  if (schema.type != Schema::Type::kObject && schema.type != Schema::Type::kAny) {
    throw PatchFailure(
        std::string("merging an object in json but data type is not struct, instead is: ") +
        (schema.type == Schema::Type::kMap ? "map" : "string"));
  }
  if (const Schema::Field* field = schema.Find(name)) return *field;
  throw PatchFailure("unable to find api field in struct " +
                     (schema.name.empty() ? "RawExtension" : schema.name) +
                     " for the json field \"" + name + '"');
}

const Schema::Field& FindListField(const Schema& schema, const std::string& name) {
  const Schema::Field& field = FindField(schema, name);
  if (field.schema->type == Schema::Type::kList) return field;
  throw PatchFailure("expected slice or array type, but got: struct");
}

void DiscardNulls(json& value) {
  if (value.is_array()) {
    for (json& item : value) DiscardNulls(item);
  } else if (value.is_object()) {
    for (auto member = value.begin(); member != value.end();) {
      if (member->is_null()) {
        member = value.erase(member);
      } else {
        DiscardNulls(*member++);
      }
    }
  }
}

/// Removes the objects that contain the directive $patch from `value`. Returns whether `value`
/// itself is not one.
bool RemoveDirectives(json& value) {
  if (value.is_object()) {
    if (value.contains(kDirective)) return false;
    for (auto member = value.begin(); member != value.end();) {
      member = RemoveDirectives(*member) ? std::next(member) : value.erase(member);
    }
  } else if (value.is_array()) {
    json kept = json::array();
    for (json& item : value) {
      if (RemoveDirectives(item)) kept.push_back(std::move(item));
    }
    value = std::move(kept);
  }
  return true;
}

/// Sets a field that is not merged. Erases it if the new value is a directive.
void SetField(json& original, const std::string& name, json value) {
  if (RemoveDirectives(value)) {
    original[name] = std::move(value);
  } else {
    original.erase(name);
  }
}

/// Implements the directive $retainKeys: erases the other members of `original`.
void RetainKeys(json& original, json& patch) {
  const auto directive = patch.find(kRetainKeys);
  if (directive == patch.end()) return;
  const json keys = std::move(*directive);
  patch.erase(directive);
  const char* const error = "invalid patch format of retainKeys";
  if (!keys.is_array()) throw BadRequest(error);
  std::unordered_set<std::string> retained;
  for (const json& key : keys) {
    if (key.is_string()) retained.insert(key.get<std::string>());
  }
  for (const auto& [name, value] : patch.items()) {
    const bool is_checked =
        !value.is_null() && !name.starts_with(kDeletePrefix) && !name.starts_with(kOrderPrefix);
    if (is_checked && !retained.contains(name)) throw BadRequest(error);
  }
  for (auto member = original.begin(); member != original.end();) {
    member = retained.contains(member.key()) ? std::next(member) : original.erase(member);
  }
}

void MergeObject(json& original, json& patch, const Schema& schema);

json MergeListField(json original, json& patch, const Schema::Field& field, bool removes_items) {
  if (field.patch_strategy != PatchStrategy::kMerge && !removes_items) return patch;
  const Schema& items = *field.schema->items;
  return MergeList(
      std::move(original), patch,
      {field.patch_merge_key, &items, removes_items,
       [&items](json& object, json& object_patch) { MergeObject(object, object_patch, items); }});
}

void RequireList(const json* value) {
  if (value == nullptr || value->is_array()) return;
  throw PatchFailure("expected a []interface {}, but received a " +
                     FormatGoString(GoTypeOf(*value)));
}

/// Merges a list whose order the patch specifies, and removes it from the patch.
void MergeOrderedList(json& original, json& patch, const std::string& name, const json& order,
                      const Schema& schema) {
  const auto in_original = original.find(name);
  const auto in_patch = patch.find(name);
  json* const original_list = in_original == original.end() ? nullptr : &*in_original;
  json* const patch_list = in_patch == patch.end() ? nullptr : &*in_patch;
  RequireList(original_list);
  RequireList(patch_list);
  const Schema::Field& field = FindListField(schema, name);
  const json live = original_list == nullptr ? json::array() : *original_list;
  const json changes = patch_list == nullptr ? json::array() : *patch_list;
  CheckItemOrder(changes, order, field.patch_merge_key);
  if (original_list == nullptr && patch_list == nullptr) return;
  json merged = live;
  if (original_list == nullptr) {
    merged = changes;
    RemoveDirectives(merged);
  } else if (patch_list != nullptr) {
    merged = MergeListField(live, *patch_list, field, false);
  }
  CheckItemTypes(live, changes);
  original[name] = OrderItems(merged, order, live, field.patch_merge_key);
  patch.erase(name);
}

/// Implements the directives $setElementOrder/LIST.
void MergeOrderedLists(json& original, json& patch, const Schema& schema) {
  std::vector<std::string> directives;
  for (const auto& [name, value] : patch.items()) {
    if (name.starts_with(kOrderPrefix)) directives.push_back(name);
  }
  for (const std::string& directive : directives) {
    const json order = std::move(patch[directive]);
    patch.erase(directive);
    RequireList(&order);
    const std::string name =
        ListNameOf(directive, kOrderPrefix, "invalid patch format of setElementOrder list");
    MergeOrderedList(original, patch, name, order, schema);
  }
}

void MergeField(json& original, const std::string& directive, json& value, const Schema& schema) {
  const bool removes_items = directive.starts_with(kDeletePrefix);
  const std::string name =
      removes_items ? ListNameOf(directive, kDeletePrefix, "invalid patch format of primitive list")
                    : directive;
  if (value.is_null()) {
    original.erase(name);
    return;
  }
  const auto found = original.find(name);
  if (found == original.end() || GoTypeOf(*found) != GoTypeOf(value)) {
    if (removes_items) return;
    DiscardNulls(value);
    SetField(original, name, value);
  } else if (value.is_object()) {
    const Schema::Field& field = FindField(schema, name);
    if (field.patch_strategy == PatchStrategy::kReplace) {
      *found = value;
    } else {
      MergeObject(*found, value, *field.schema);
    }
  } else if (value.is_array()) {
    const Schema::Field& field = FindListField(schema, name);
    *found = MergeListField(std::move(*found), value, field, removes_items);
  } else {
    *found = value;
  }
}

/// Merges `patch` into `original`, which is an object of type `schema`.
void MergeObject(json& original, json& patch, const Schema& schema) {
  if (const auto directive = patch.find(kDirective); directive != patch.end()) {
    if (*directive == "replace") {
      patch.erase(directive);
      original = patch;
    } else if (*directive == "delete") {
      original = json::object();
    } else {
      throw PatchFailure("unknown patch type: " + FormatGoString(*directive) +
                         " in map: " + FormatGoValue(patch));
    }
    return;
  }
  RetainKeys(original, patch);
  MergeOrderedLists(original, patch, schema);
  for (auto& [name, value] : patch.items()) MergeField(original, name, value, schema);
}

}  // namespace

json ApplyStrategicMergePatch(json object, json& patch, const Schema& schema) {
  MergeObject(object, patch, schema);
  return object;
}

}  // namespace kopp::apiserver
