#include "multiple_of.hpp"

#include "schema/decode.hpp"

#include <cmath>
#include <cstdint>

namespace kopp::schema {

using nlohmann::json;

json EffectiveFactor(const json& value, const json& factor) {
  // For a factor below 1, kube-apiserver would divide by zero: use the factor unchanged.
  const double whole = std::trunc(factor.get<double>());
  if (!IsInteger(value) || whole < 1 || whole >= 0x1p63) return factor;
  return static_cast<std::int64_t>(whole);
}

bool IsMultipleOf(const json& value, const json& multiple_of) {
  const json factor = EffectiveFactor(value, multiple_of);
  if (IsInteger(value) && factor.is_number_integer()) {
    return value.get<std::int64_t>() % factor.get<std::int64_t>() == 0;
  }
  constexpr double kMaxExact = 9007199254740991;  // 2^53-1
  const auto step = factor.get<double>();
  const double times = step < 1 ? 1 / step * value.get<double>() : value.get<double>() / step;
  if (!(std::abs(times) <= kMaxExact)) return false;
  const double whole = std::trunc(times);
  return times == whole || (whole > 0 && (times - whole) / (times + whole) < 1e-9);
}

}  // namespace kopp::schema
