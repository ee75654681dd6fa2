#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::schema {

/// A set of field paths, as in managedFields. It is a tree whose edges are the path elements of
/// FieldsV1: f:NAME for a field, k:{"KEY":VALUE} for an item of a list of type map, v:VALUE for an
/// item of a list of type set.
struct FieldSet {
  bool member = false;  ///< whether the set contains this path itself, not only paths below it
  std::map<std::string, FieldSet, std::less<>> children{};

  /// Parses FieldsV1. Ignores invalid path elements; a value that is not an object gives an empty
  /// set.
  static FieldSet FromJson(const nlohmann::json& fields);
  [[nodiscard]] nlohmann::json ToJson() const;

  [[nodiscard]] bool empty() const { return !member && children.empty(); }
  [[nodiscard]] const FieldSet* Find(std::string_view path_element) const {
    const auto found = children.find(path_element);
    return found == children.end() ? nullptr : &found->second;
  }
  bool operator==(const FieldSet&) const = default;
};

[[nodiscard]] FieldSet Union(const FieldSet& a, const FieldSet& b);
[[nodiscard]] FieldSet Intersection(const FieldSet& a, const FieldSet& b);
[[nodiscard]] FieldSet Difference(const FieldSet& a, const FieldSet& b);

/// Returns a path element in the syntax of error messages: .name, [port=80,protocol="TCP"], [="a"].
[[nodiscard]] std::string PathElementText(std::string_view path_element);

/// Calls `each` with every path of the set in the syntax of error messages:
/// .spec.ports[port=80].name
void ForEachPath(const FieldSet& set, const std::function<void(const std::string& path)>& each);

}  // namespace kopp::schema
