#pragma once

#include "field_set.hpp"
#include "schema.hpp"

#include <string>

#include <nlohmann/json.hpp>

// What server-side apply does with values: all of it is told by the schema which parts of a value
// have an owner of their own.
//
// client-go: sigs.k8s.io/structured-merge-diff, whose rules these are.

namespace kopp::apiserver {

/// Where `item` of a list by keys, or of a set, stands in it: its step in a FieldSet. A key that
/// the item leaves out counts with its default. Throws std::invalid_argument where there is none.
[[nodiscard]] std::string StepOf(const Schema& list, const nlohmann::json& item);

/// The places that `value` has, as its owner is told by it when it is applied.
[[nodiscard]] FieldSet FieldsOf(const nlohmann::json& value, const Schema& schema);

struct Comparison {
  FieldSet added{};
  FieldSet modified{};
  FieldSet removed{};

  [[nodiscard]] bool IsSame() const { return added.empty() && modified.empty() && removed.empty(); }
};
/// What an update from `before` to `after` did.
[[nodiscard]] Comparison Compare(const nlohmann::json& before, const nlohmann::json& after,
                                 const Schema& schema);

/// `live` with all that `config` says; what config does not name stays as it is.
[[nodiscard]] nlohmann::json Merged(const nlohmann::json& live, const nlohmann::json& config,
                                    const Schema& schema);

/// `value` without the places in `fields`.
[[nodiscard]] nlohmann::json Without(const nlohmann::json& value, const FieldSet& fields,
                                     const Schema& schema);

/// The set with each struct's field that has a member below it.
[[nodiscard]] FieldSet WithNamedFields(const FieldSet& fields, const Schema& schema);

}  // namespace kopp::apiserver
