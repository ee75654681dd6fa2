#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/create_or_update.hpp>

// Carries a change of a struct over to the whole object, which has more fields than the struct.

namespace kopp::detail {
namespace {

using nlohmann::json;

void Merge(json& whole, const json& before, const json& after);

void MergeObjects(json& whole, const json& before, const json& after) {
  for (const auto& [key, value] : before.items()) {
    if (!after.contains(key)) whole.erase(key);
  }
  for (const auto& [key, value] : after.items()) {
    if (before.contains(key) && whole.contains(key)) {
      Merge(whole[key], before[key], value);
    } else {
      whole[key] = value;
    }
  }
}

/// Returns the field that identifies an item of a list, for example the name of a container, or
/// null if there is none.
const json* IdentityOf(const json& item) {
  if (!item.is_object()) return nullptr;
  for (const char* key :
       {"name", "key", "type", "uid", "mountPath", "containerPort", "port", "ip"}) {
    if (const auto found = item.find(key); found != item.end()) return &*found;
  }
  return nullptr;
}

/// Returns for each item of `after` the position of the same item in `before`, if there is one.
std::vector<std::optional<std::size_t>> MatchItems(const json& before, const json& after) {
  std::vector<std::optional<std::size_t>> matches(after.size());
  std::vector<bool> taken(before.size());
  const auto match = [&](auto is_same) {
    for (std::size_t i = 0; i < after.size(); ++i) {
      for (std::size_t j = 0; j < before.size() && !matches[i]; ++j) {
        if (taken[j] || !is_same(j, i)) continue;
        taken[j] = true;
        matches[i] = j;
      }
    }
  };
  match([&](std::size_t j, std::size_t i) { return before[j] == after[i]; });
  match([&](std::size_t j, std::size_t i) {
    const json* const a = IdentityOf(before[j]);
    const json* const b = IdentityOf(after[i]);
    return a != nullptr && b != nullptr && *a == *b;
  });
  match([&](std::size_t j, std::size_t i) {
    return i == j && before.size() == after.size() && IdentityOf(after[i]) == nullptr;
  });
  return matches;
}

void MergeLists(json& whole, const json& before, const json& after) {
  const auto matches = MatchItems(before, after);
  json merged = json::array();
  for (std::size_t i = 0; i < after.size(); ++i) {
    merged.push_back(after[i]);
    if (!matches[i]) continue;
    merged.back() = whole[*matches[i]];
    Merge(merged.back(), before[*matches[i]], after[i]);
  }
  whole = std::move(merged);
}

void Merge(json& whole, const json& before, const json& after) {
  if (before == after) return;
  if (whole.is_object() && before.is_object() && after.is_object()) {
    MergeObjects(whole, before, after);
  } else if (whole.is_array() && before.is_array() && after.is_array() &&
             whole.size() == before.size()) {
    MergeLists(whole, before, after);
  } else {
    whole = after;
  }
}

}  // namespace

void MergeChange(json& whole, const std::string& before, const std::string& after) {
  Merge(whole, json::parse(before), json::parse(after));
}

}  // namespace kopp::detail
