#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// A set of places in an object, as managedFields tells who owns them: a tree by the steps of
/// FieldsV1, which are f:NAME for a field, k:{"KEY":VALUE} for an item of a list by its keys, and
/// v:VALUE for a value of a set.
struct FieldSet {
  bool member = false;  ///< this place itself, and not only some below it
  std::map<std::string, FieldSet, std::less<>> below{};

  /// Reads FieldsV1. What is no such tree makes an empty set.
  static FieldSet FromJson(const nlohmann::json& fields);
  [[nodiscard]] nlohmann::json ToJson() const;

  [[nodiscard]] bool empty() const { return !member && below.empty(); }
  [[nodiscard]] const FieldSet* Find(std::string_view step) const {
    const auto found = below.find(step);
    return found == below.end() ? nullptr : &found->second;
  }
  bool operator==(const FieldSet&) const = default;
};

[[nodiscard]] FieldSet Union(const FieldSet& a, const FieldSet& b);
[[nodiscard]] FieldSet Intersection(const FieldSet& a, const FieldSet& b);
[[nodiscard]] FieldSet Difference(const FieldSet& a, const FieldSet& b);

/// A step as messages name it: .name, [port=80,protocol="TCP"], [="a"].
[[nodiscard]] std::string InMessages(std::string_view step);

/// Calls `each` with every place of the set as a message names it: .spec.ports[port=80].name
void ForEachPath(const FieldSet& set, const std::function<void(const std::string& path)>& each);

}  // namespace kopp::apiserver
