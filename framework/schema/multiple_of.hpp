#pragma once

#include <nlohmann/json.hpp>

// The schema keyword multipleOf, with the arithmetic of kube-apiserver.

namespace kopp::schema {

/// Returns the factor that is used for `value`. For an integer value, kube-apiserver drops the
/// fraction of the factor.
[[nodiscard]] nlohmann::json EffectiveFactor(const nlohmann::json& value,
                                             const nlohmann::json& factor);

/// Returns whether `value` is a multiple of `factor`. Values that are not integers are compared as
/// Go's float64, with a relative tolerance of 1e-9. Returns false if the quotient is 2^53 or more.
[[nodiscard]] bool IsMultipleOf(const nlohmann::json& value, const nlohmann::json& factor);

}  // namespace kopp::schema
