#pragma once

#include "json/go_values.hpp"
#include "json/schema_names.hpp"
#include "schema/accessors.hpp"
#include "schema/finalizers.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Computes the cell of a column from an object of a built-in kind, as the printers of
/// kube-apiserver do. `now` is the time for ages, in RFC 3339.
using Cell = std::function<nlohmann::json(const nlohmann::json& object, const std::string& now)>;

/// The cells of each kind, in the order of its columns in resources.txt.
using CellsByKind = std::map<std::string, std::vector<Cell>, std::less<>>;

// The cells of the built-in kinds.
[[nodiscard]] CellsByKind PodCells();
[[nodiscard]] CellsByKind WorkloadCells();
[[nodiscard]] CellsByKind NetworkCells();
[[nodiscard]] CellsByKind ClusterCells();
[[nodiscard]] CellsByKind EventCells();
[[nodiscard]] CellsByKind AutoscalingCells();
[[nodiscard]] CellsByKind AdmissionCells();
[[nodiscard]] CellsByKind StorageCells();

// Helpers for cells.

/// Returns whether the object has the condition with status True.
[[nodiscard]] bool HasCondition(const nlohmann::json& object, std::string_view type);

/// Returns `text`, or `otherwise` if it is empty.
[[nodiscard]] std::string OrDefault(std::string text, const char* otherwise);

// Cells for columns that several kinds have. Parameters named `pointer` are JSON pointers.

[[nodiscard]] Cell Name();
[[nodiscard]] Cell Age(std::string pointer = "/metadata/creationTimestamp",
                       std::string otherwise = "<unknown>");
[[nodiscard]] Cell Text(std::string pointer, std::string otherwise = "");
[[nodiscard]] Cell Number(std::string pointer);
/// Returns a Cell that shows two numbers as "READY/DESIRED".
[[nodiscard]] Cell Fraction(std::string ready, std::string desired);
/// Returns a Cell that shows the total number of items in these lists and maps.
[[nodiscard]] Cell ItemCount(std::vector<std::string> pointers);
/// Returns a Cell that shows one field of each item of a list, joined by commas, for example the
/// names of containers.
[[nodiscard]] Cell JoinedItems(std::string list, std::string field);
[[nodiscard]] Cell Labels(std::string pointer);
[[nodiscard]] Cell LabelSelectorCell(std::string pointer);

/// Formats a duration with about two significant digits, as kubectl does: "5s", "3m10s", "2d4h",
/// "6y326d".
[[nodiscard]] std::string HumanDuration(std::chrono::seconds duration);

/// Formats the time from `since` to `now`. Returns "<unknown>" if `since` is empty, and "<invalid>"
/// if it is not a timestamp or is later than `now`.
[[nodiscard]] std::string FormatAge(std::string_view since, std::string_view now);

}  // namespace kopp::apiserver
