#pragma once

#include "schema/field_set.hpp"
#include "schema/schema.hpp"

#include <string>

#include <nlohmann/json.hpp>

// Operations of server-side apply on values. The schema determines which parts of a value can have
// an owner of their own.
//
// client-go: sigs.k8s.io/structured-merge-diff defines the same rules.

namespace kopp::schema {

/// Returns the path element of an item of a list of type map or set. A missing key has its default.
/// Throws std::invalid_argument, with the server's message, if the item has none of the list's keys
/// or cannot be an item of such a list.
[[nodiscard]] std::string PathElementOf(const Schema& list, const nlohmann::json& item);

/// Returns the field paths in `value`: the set that its manager owns after applying it.
[[nodiscard]] FieldSet ToFieldSet(const nlohmann::json& value, const Schema& schema);

/// The field paths that differ between two values.
struct Comparison {
  FieldSet added{};
  FieldSet modified{};
  FieldSet removed{};

  [[nodiscard]] bool IsSame() const { return added.empty() && modified.empty() && removed.empty(); }
};
/// Compares a value before and after an update.
[[nodiscard]] Comparison Compare(const nlohmann::json& before, const nlohmann::json& after,
                                 const Schema& schema);

/// Merges `config` into `live`. Fields that `config` does not contain keep their values, as do
/// objects and lists that it could merge and for which it has null.
[[nodiscard]] nlohmann::json MergeValues(const nlohmann::json& live, const nlohmann::json& config,
                                         const Schema& schema);

/// Returns `value` without the fields in `fields`; null if nothing is left.
[[nodiscard]] nlohmann::json RemoveFields(const nlohmann::json& value, const FieldSet& fields,
                                          const Schema& schema);

/// Returns the set, extended by each field of a struct that contains a member of the set.
[[nodiscard]] FieldSet EnsureNamedFieldsAreMembers(const FieldSet& fields, const Schema& schema);

}  // namespace kopp::schema
