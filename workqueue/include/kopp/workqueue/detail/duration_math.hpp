#pragma once

#include <kopp/workqueue/clock.hpp>

namespace kopp::workqueue::detail {

/// Returns 2 × `delay`, or Duration::max() if that would overflow; zero if `delay` is negative.
constexpr Duration Doubled(Duration delay) {
  if (delay <= Duration::zero()) return Duration::zero();
  return delay > Duration::max() / 2 ? Duration::max() : 2 * delay;
}

/// Returns `delay` × `factor`, clamped to the range from zero to Duration::max(); zero for NaN.
inline Duration Scaled(Duration delay, double factor) {
  const double product = static_cast<double>(delay.count()) * factor;
  if (!(product > 0)) return Duration::zero();  // also for NaN
  const bool fits = product < static_cast<double>(Duration::max().count());
  return fits ? Duration(static_cast<Duration::rep>(product)) : Duration::max();
}

}  // namespace kopp::workqueue::detail
