#include "multiples.hpp"

#include "decode.hpp"

#include <cmath>
#include <cstdint>

namespace kopp::apiserver {

using nlohmann::json;

json FactorFor(const json& value, const json& factor) {
  // The real server divides by zero where nothing is left of the factor.
  const double whole = std::trunc(factor.get<double>());
  if (!IsInteger(value) || whole < 1 || whole >= 0x1p63) return factor;
  return static_cast<std::int64_t>(whole);
}

bool IsMultiple(const json& value, const json& given) {
  const json factor = FactorFor(value, given);
  if (IsInteger(value) && factor.is_number_integer()) {
    return value.get<std::int64_t>() % factor.get<std::int64_t>() == 0;
  }
  constexpr double kMostExact = 9007199254740991;  // 2^53-1
  const auto step = factor.get<double>();
  const double times = step < 1 ? 1 / step * value.get<double>() : value.get<double>() / step;
  if (!(std::abs(times) <= kMostExact)) return false;
  const double whole = std::trunc(times);
  return times == whole || (whole > 0 && (times - whole) / (times + whole) < 1e-9);
}

}  // namespace kopp::apiserver
