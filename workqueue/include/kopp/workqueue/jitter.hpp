#pragma once

#include <functional>
#include <random>

#include <kopp/workqueue/clock.hpp>

namespace kopp::workqueue {

/// The seam to chance: gives a number from 0 to 1 at each call, from whichever thread needs one.
using Chance = std::function<double()>;

/// A number that the machine chose. Keeps nothing from call to call.
inline double RealChance() {
  std::random_device device;
  return static_cast<double>(device()) / static_cast<double>(std::random_device::max());
}

/// `delay` × `factor`, but no less than zero and no more than the longest Duration.
inline Duration Scaled(Duration delay, double factor) {
  const double product = static_cast<double>(delay.count()) * factor;
  if (!(product > 0)) return Duration::zero();  // nor any sense in what is not a number
  const bool fits = product < static_cast<double>(Duration::max().count());
  return fits ? Duration(static_cast<Duration::rep>(product)) : Duration::max();
}

}  // namespace kopp::workqueue
