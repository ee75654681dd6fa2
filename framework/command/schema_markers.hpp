#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::command {

/// Returns the markers of a field for its schema: "MaxLength(63)". `type` is the C++ type of the
/// field. Descriptions are not included.
[[nodiscard]] std::vector<std::string> MarkersOf(const nlohmann::json& schema,
                                                 std::string_view type, bool required);

/// Returns the argument of a template: "T" for "std::optional<T>" with the prefix "std::optional<",
/// and otherwise "".
[[nodiscard]] std::string_view TemplateArgument(std::string_view type, std::string_view prefix);

inline constexpr std::string_view kOptionalPrefix = "std::optional<";
inline constexpr std::string_view kOrNullPrefix = "kopp::OrNull<";
inline constexpr std::string_view kVectorPrefix = "std::vector<";
inline constexpr std::string_view kMapPrefix = "std::map<std::string, ";
inline constexpr std::string_view kRawJson = "kopp::RawJson";
inline constexpr std::string_view kIntOrString = "kopp::k8s::IntOrString";
inline constexpr std::string_view kQuantity = "kopp::k8s::Quantity";

}  // namespace kopp::command
