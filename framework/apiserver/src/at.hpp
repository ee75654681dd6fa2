#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

// What an object has at a JSON pointer. Nothing throws where it has nothing there, or another type.

/// null where there is nothing.
[[nodiscard]] const nlohmann::json& At(const nlohmann::json& object, const std::string& pointer);
/// A string, or a number as text.
[[nodiscard]] std::string TextAt(const nlohmann::json& object, const std::string& pointer,
                                 const std::string& otherwise = "");
[[nodiscard]] std::int64_t NumberAt(const nlohmann::json& object, const std::string& pointer);
[[nodiscard]] bool IsTrueAt(const nlohmann::json& object, const std::string& pointer);

}  // namespace kopp::apiserver
