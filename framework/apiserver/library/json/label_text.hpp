#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

[[nodiscard]] std::string Join(const std::vector<std::string>& words,
                               const std::string& between = ",");
/// Formats labels: "a=1,b=2".
[[nodiscard]] std::string FormatLabels(const nlohmann::json& labels);
/// Formats a LabelSelector: "a=1,b in (2,3),!c".
[[nodiscard]] std::string FormatSelector(const nlohmann::json& selector);

}  // namespace kopp::apiserver
