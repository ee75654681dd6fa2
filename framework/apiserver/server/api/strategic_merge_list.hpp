#pragma once

#include "api/status.hpp"
#include "schema/schema.hpp"

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

// Merging of lists in strategic merge patches. The items of a list are objects that a merge key
// identifies, or scalars. Each function throws StatusError, with the same message as
// kube-apiserver.

namespace kopp::apiserver {

/// How a list is merged.
struct ListMergeRule {
  std::string merge_key{};  ///< empty for scalars
  const Schema* item_schema = nullptr;
  bool removes_items = false;  ///< the patch lists the scalars to remove
  /// Merges the second object into the first.
  std::function<void(nlohmann::json&, nlohmann::json&)> merge_objects{};
};

/// Returns the error for a patch that kube-apiserver cannot process: it has code 500.
[[nodiscard]] StatusError PatchFailure(const std::string& message);

/// Returns the list after merging `patch` into `original`. New items stand before the items of
/// `original` that follow none of the items of `patch`.
[[nodiscard]] nlohmann::json MergeList(nlohmann::json original, nlohmann::json& patch,
                                       const ListMergeRule& rule);

/// Requires that the items of `patch` are in `order` and have the same relative order there.
void CheckItemOrder(const nlohmann::json& patch, const nlohmann::json& order,
                    const std::string& merge_key);

/// Returns `merged` with the items that are in `order` in that order. The other items have the
/// order of `original`.
[[nodiscard]] nlohmann::json OrderItems(const nlohmann::json& merged, const nlohmann::json& order,
                                        const nlohmann::json& original,
                                        const std::string& merge_key);

/// Requires that all items of both lists have the same type, which is not a list. Returns this
/// type as Go names it.
std::string CheckItemTypes(const nlohmann::json& original, const nlohmann::json& patch);

}  // namespace kopp::apiserver
