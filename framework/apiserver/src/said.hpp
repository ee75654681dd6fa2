#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

// What an object says by a name. Nothing throws where it says something else, or is no object.

namespace kopp::apiserver {

/// null where it does not. It belongs to `object`.
[[nodiscard]] const nlohmann::json& Said(const nlohmann::json& object, std::string_view name);
/// "" where it is no text.
[[nodiscard]] std::string SaidText(const nlohmann::json& object, std::string_view name);
/// Empty where it is no list of texts.
[[nodiscard]] std::vector<std::string> SaidTexts(const nlohmann::json& object,
                                                 std::string_view name);

}  // namespace kopp::apiserver
