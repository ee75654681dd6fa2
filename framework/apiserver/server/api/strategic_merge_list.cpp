#include "api/strategic_merge_list.hpp"

#include "json/go_values.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::string_view kObjectType = "map[string]interface {}";

StatusError NoMergeKey(const json& item, const std::string& merge_key) {
  return PatchFailure("map: " + FormatGoValue(item) +
                      " does not contain declared merge key: " + merge_key);
}

/// Returns the text that identifies an item: its merge key, or the scalar itself.
std::string ItemId(const json& item, const std::string& merge_key) {
  if (merge_key.empty()) return item.dump();
  if (!item.is_object()) {
    throw PatchFailure("expected a " + std::string(kObjectType) + ", but received a " +
                       GoTypeOf(item));
  }
  const auto found = item.find(merge_key);
  if (found == item.end()) throw NoMergeKey(item, merge_key);
  return found->dump();
}

/// The positions of the items of a list, by their ids. Of items with the same id, it has the first.
class ItemPositions {
 public:
  ItemPositions(const json& list, const std::string& merge_key) {
    for (const json& item : list) Add(ItemId(item, merge_key));
  }
  void Add(std::string id) { positions_.try_emplace(std::move(id), next_++); }
  [[nodiscard]] std::optional<std::size_t> Find(const std::string& id) const {
    const auto found = positions_.find(id);
    return found == positions_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::unordered_map<std::string, std::size_t> positions_;
  std::size_t next_ = 0;
};

json MergeScalars(const json& original, const json& patch, bool removes_items) {
  std::unordered_set<std::string> seen;
  json merged = json::array();
  if (removes_items) {
    for (const json& item : patch) seen.insert(item.dump());
    for (const json& item : original) {
      if (!seen.contains(item.dump())) merged.push_back(item);
    }
    return merged;
  }
  for (const json* list : {&original, &patch}) {
    for (const json& item : *list) {
      if (seen.insert(item.dump()).second) merged.push_back(item);
    }
  }
  return merged;
}

bool IsDeletion(const json& item) { return item.is_object() && Field(item, "$patch") == "delete"; }

/// The items of a patch without those that are directives.
struct PatchItems {
  std::vector<json*> items{};
  std::unordered_set<std::string> deleted{};  ///< ids of the items to delete
  bool replaces_list = false;
};

PatchItems ReadDirectives(json& patch, const std::string& merge_key) {
  PatchItems result;
  for (json& item : patch) {
    const auto directive = item.find("$patch");
    if (directive == item.end()) {
      result.items.push_back(&item);
    } else if (*directive == "delete") {
      result.deleted.insert(ItemId(item, merge_key));
    } else if (*directive == "replace") {
      result.replaces_list = true;
    } else if (*directive == "merge") {
      throw PatchFailure("merging lists cannot yet be specified in the patch");
    } else {
      throw PatchFailure("unknown patch type: " + FormatGoString(*directive) +
                         " in map: " + FormatGoValue(item));
    }
  }
  return result;
}

json MergeObjects(json original, json& patch, const ListMergeRule& rule) {
  const PatchItems changes = ReadDirectives(patch, rule.merge_key);
  json order = json::array();
  for (const json* item : changes.items) order.push_back(*item);
  if (changes.replaces_list) return OrderItems(order, json::array(), order, rule.merge_key);
  if (!changes.deleted.empty()) {
    json kept = json::array();
    for (json& item : original) {
      const json& key = Field(item, rule.merge_key);
      if (key.is_null() || !changes.deleted.contains(key.dump())) kept.push_back(std::move(item));
    }
    original = std::move(kept);
  }
  json merged = original;
  ItemPositions positions(merged, rule.merge_key);
  for (json* item : changes.items) {
    std::string id = ItemId(*item, rule.merge_key);
    if (const auto position = positions.Find(id)) {
      rule.merge_objects(merged[*position], *item);
    } else {
      merged.push_back(*item);
      positions.Add(std::move(id));
    }
  }
  return OrderItems(merged, order, original, rule.merge_key);
}

/// An item of a merged list, and its positions in two other lists.
struct PlacedItem {
  const json* item = nullptr;
  std::optional<std::size_t> in_order{};
  std::optional<std::size_t> in_original{};
};

/// Sorts items by their position in the original list. kube-apiserver treats an item without a
/// position as smaller than each other item and sorts by insertion: such items get the reverse
/// order. It sorts blocks of 20 items; a longer list with such items stays as it is.
void SortByOriginal(std::vector<PlacedItem>& items) {
  constexpr std::size_t kBlock = 20;
  const auto is_before = [](const PlacedItem& a, const PlacedItem& b) {
    return !a.in_original || !b.in_original || *a.in_original < *b.in_original;
  };
  if (std::all_of(items.begin(), items.end(),
                  [](const PlacedItem& item) { return item.in_original.has_value(); })) {
    std::stable_sort(items.begin(), items.end(), is_before);
  } else if (items.size() <= kBlock) {
    for (std::size_t i = 1; i < items.size(); ++i) {
      for (std::size_t j = i; j > 0 && is_before(items[j], items[j - 1]); --j) {
        std::swap(items[j], items[j - 1]);
      }
    }
  }
}

/// Merges two ordered lists. An item of `others` is placed before the first item of `ordered` that
/// follows it in the original list.
json Interleave(const std::vector<PlacedItem>& others, const std::vector<PlacedItem>& ordered) {
  json result = json::array();
  auto other = others.begin();
  for (const PlacedItem& item : ordered) {
    for (; other != others.end() && other->in_original && item.in_original &&
           *other->in_original < *item.in_original;
         ++other) {
      result.push_back(*other->item);
    }
    result.push_back(*item.item);
  }
  for (; other != others.end(); ++other) result.push_back(*other->item);
  return result;
}

}  // namespace

StatusError PatchFailure(const std::string& message) { return {500, "", message}; }

std::string CheckItemTypes(const json& original, const json& patch) {
  std::string type;
  for (const json* list : {&original, &patch}) {
    for (const json& item : *list) {
      const std::string item_type = GoTypeOf(item);
      if (type.empty() && item.is_array()) {
        throw StatusError(422, "Invalid",
                          "the server rejected our request due to an error in our request",
                          json::object());
      }
      if (!type.empty() && type != item_type) {
        throw PatchFailure("list element types are not identical: " +
                           FormatGoValue(json::array({original, patch})));
      }
      type = item_type;
    }
  }
  if (type.empty()) throw PatchFailure("no elements in any of the given slices");
  return type;
}

json MergeList(json original, json& patch, const ListMergeRule& rule) {
  if (original.empty() && patch.empty()) return original;
  if (CheckItemTypes(original, patch) == kObjectType) {
    if (rule.merge_key.empty()) {
      const bool is_object = rule.item_schema->type == Schema::Type::kObject;
      throw PatchFailure(std::string("cannot merge lists without merge key for ") +
                         (is_object ? "struct" : "string"));
    }
    return MergeObjects(std::move(original), patch, rule);
  }
  const json merged = MergeScalars(original, patch, rule.removes_items);
  return rule.removes_items ? merged : OrderItems(merged, patch, original, rule.merge_key);
}

void CheckItemOrder(const json& patch, const json& order, const std::string& merge_key) {
  if (patch.empty() || order.empty()) return;
  auto item = patch.begin();
  auto next = order.begin();
  while (item != patch.end() && (next != order.end() || IsDeletion(*item))) {
    const bool is_directive = item->is_object() && item->contains("$patch");
    if (is_directive || ItemId(*item, merge_key) == ItemId(*next++, merge_key)) ++item;
  }
  if (item == patch.end()) return;
  throw PatchFailure("The order in patch list:\n" + FormatGoValue(patch) +
                     "\n doesn't match $setElementOrder list:\n" + FormatGoValue(order) + '\n');
}

json OrderItems(const json& merged, const json& order, const json& original,
                const std::string& merge_key) {
  const ItemPositions in_order(order, merge_key);
  const ItemPositions in_original(original, merge_key);
  std::vector<PlacedItem> ordered;
  std::vector<PlacedItem> others;
  for (const json& item : merged) {
    const std::string id = ItemId(item, merge_key);
    const PlacedItem placed{&item, in_order.Find(id), in_original.Find(id)};
    (placed.in_order ? ordered : others).push_back(placed);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const PlacedItem& a, const PlacedItem& b) {
    return *a.in_order < *b.in_order;
  });
  SortByOriginal(others);
  return Interleave(others, ordered);
}

}  // namespace kopp::apiserver
