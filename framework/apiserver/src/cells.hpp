#pragma once

#include "at.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// How the cell of a built-in kind's column is made of an object. `now` is RFC 3339, for ages.
using Cell = std::function<nlohmann::json(const nlohmann::json& object, const std::string& now)>;

/// The cells of kinds, in the order of their columns in resources.txt.
using CellsOfKinds = std::map<std::string, std::vector<Cell>, std::less<>>;

// One file each. A function, since a cell is no constant.
[[nodiscard]] CellsOfKinds PodCells();
[[nodiscard]] CellsOfKinds WorkloadCells();
[[nodiscard]] CellsOfKinds NetworkCells();
[[nodiscard]] CellsOfKinds ClusterCells();
[[nodiscard]] CellsOfKinds EventCells();

// What the cells ask.

/// Whether its status has the condition, with the status True.
[[nodiscard]] bool HasCondition(const nlohmann::json& object, std::string_view type);
[[nodiscard]] bool IsBeingDeleted(const nlohmann::json& object);

[[nodiscard]] std::string Joined(const std::vector<std::string>& words,
                                 const std::string& between = ",");
/// `otherwise` where `text` is empty.
[[nodiscard]] std::string Or(std::string text, const char* otherwise);
/// "a=1,b=2", of labels.
[[nodiscard]] std::string LabelsInWords(const nlohmann::json& labels);
/// "a=1,b in (2,3),!c", of a LabelSelector.
[[nodiscard]] std::string SelectorInWords(const nlohmann::json& selector);

// Cells that kinds share.

[[nodiscard]] Cell Name();
[[nodiscard]] Cell Age(std::string pointer = "/metadata/creationTimestamp",
                       std::string otherwise = "<unknown>");
[[nodiscard]] Cell Text(std::string pointer, std::string otherwise = "");
[[nodiscard]] Cell Number(std::string pointer);
/// "ready/wanted".
[[nodiscard]] Cell OutOf(std::string ready, std::string wanted);
/// How many there are in all of these lists and maps.
[[nodiscard]] Cell CountOf(std::vector<std::string> pointers);
/// One field of each item of a list: the names of containers, say.
[[nodiscard]] Cell Each(std::string list, std::string field);
[[nodiscard]] Cell Labels(std::string pointer);
[[nodiscard]] Cell Selects(std::string pointer);

}  // namespace kopp::apiserver
