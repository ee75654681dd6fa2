#pragma once

#include <nlohmann/json.hpp>

// A schema's multipleOf, as the real server reckons with it.

namespace kopp::apiserver {

/// Whole values by whole factors: what is behind a factor's point is left out then.
[[nodiscard]] nlohmann::json FactorFor(const nlohmann::json& value, const nlohmann::json& factor);

/// Others in Go's float64, where a billionth more than a multiple still is one, and from 2^53 on
/// nothing is.
[[nodiscard]] bool IsMultiple(const nlohmann::json& value, const nlohmann::json& factor);

}  // namespace kopp::apiserver
