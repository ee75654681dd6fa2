#include "objects/merge_change.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/create_or_update.hpp>

// Carries a change of a struct over to the whole object, which has more fields than the struct.

namespace kopp {
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

/// Structs write an empty field that is required.
bool IsEmpty(const json& value) { return value.is_null() || value == "" || value == 0; }

/// Returns the field that identifies an item of a list, for example the name of a container, or
/// null if there is none.
const json* IdentityOf(const json& item) {
  if (!item.is_object()) return nullptr;
  for (const char* key :
       {"name", "key", "type", "uid", "mountPath", "containerPort", "port", "ip"}) {
    const auto found = item.find(key);
    if (found != item.end() && !IsEmpty(*found)) return &*found;
  }
  return nullptr;
}

bool HaveOneIdentity(const json& a, const json& b) {
  const json* const left = IdentityOf(a);
  const json* const right = IdentityOf(b);
  return left != nullptr && right != nullptr && *left == *right;
}

/// Matches the items of a list before and after a change.
class ItemMatcher {
 public:
  ItemMatcher(const json& whole, const json& before, const json& after)
      : whole_(whole), before_(before), after_(after) {
    Match([&](std::size_t j, std::size_t i) { return before_[j] == after_[i]; });
    Match([&](std::size_t j, std::size_t i) { return HaveOneIdentity(before_[j], after_[i]); });
    Match([&](std::size_t j, std::size_t i) {
      return i == j && before_.size() == after_.size() &&
             (IdentityOf(before_[j]) == nullptr || IdentityOf(after_[i]) == nullptr);
    });
    RequireUnambiguous();
    RequireNothingLost();
  }

  /// For each item of `after`, the position of the same item in `before`, if there is one.
  [[nodiscard]] const std::vector<std::optional<std::size_t>>& matches() const { return matches_; }

 private:
  void Match(auto is_same) {
    for (std::size_t i = 0; i < after_.size(); ++i) {
      for (std::size_t j = 0; j < before_.size() && !matches_[i]; ++j) {
        if (!taken_[j] && is_same(j, i)) matches_[i] = j;
        if (matches_[i]) taken_[j] = true;
      }
    }
  }

  /// Throws if another item than the matched one may have been removed.
  void RequireUnambiguous() const {
    for (std::size_t i = 0; i < after_.size(); ++i) {
      for (std::size_t k = 0; k < before_.size() && matches_[i]; ++k) {
        const bool changed = before_[*matches_[i]] != after_[i];
        const bool same =
            changed ? HaveOneIdentity(before_[k], after_[i]) : before_[k] == after_[i];
        if (!taken_[k] && same) RequireEqualRests(*matches_[i], k);
      }
    }
  }

  /// Throws if an item without an identity may have been changed, has fields that the struct does
  /// not have, and is not found after the change.
  void RequireNothingLost() const {
    if (std::ranges::all_of(matches_, [](const auto& match) { return match.has_value(); })) return;
    for (std::size_t j = 0; j < before_.size(); ++j) {
      if (taken_[j] || IdentityOf(before_[j]) != nullptr || whole_[j] == before_[j]) continue;
      throw std::logic_error("cannot tell whether an item of a list was changed or replaced: " +
                             whole_[j].dump() + "; change the object as JSON");
    }
  }

  /// The struct cannot tell apart the items `j` and `k`, one of which was removed. Throws if one of
  /// them has fields that the struct does not have, and the other has others.
  void RequireEqualRests(std::size_t j, std::size_t k) const {
    const bool known = whole_[j] == before_[j] && whole_[k] == before_[k];
    if (known || whole_[j] == whole_[k]) return;
    throw std::logic_error("cannot tell which item of a list was removed: " + whole_[j].dump() +
                           " or " + whole_[k].dump() + "; change the object as JSON");
  }

  const json& whole_;
  const json& before_;
  const json& after_;
  std::vector<std::optional<std::size_t>> matches_ =
      std::vector<std::optional<std::size_t>>(after_.size());
  std::vector<bool> taken_ = std::vector<bool>(before_.size());
};

void MergeLists(json& whole, const json& before, const json& after) {
  const ItemMatcher matcher(whole, before, after);
  json merged = json::array();
  for (std::size_t i = 0; i < after.size(); ++i) {
    merged.push_back(after[i]);
    const auto match = matcher.matches()[i];
    if (!match) continue;
    merged.back() = whole[*match];
    Merge(merged.back(), before[*match], after[i]);
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

void MergeChange(json& whole, const json& before, const json& after) {
  Merge(whole, before, after);
}

void detail::MergeChange(json& whole, const std::string& before, const std::string& after) {
  Merge(whole, json::parse(before), json::parse(after));
}

}  // namespace kopp
