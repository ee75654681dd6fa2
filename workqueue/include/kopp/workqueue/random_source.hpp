#pragma once

#include <functional>
#include <random>

namespace kopp::workqueue {

/// Returns a random number from 0 to 1. Back-off and retries take their jitter from it, so that
/// tests can choose the numbers. Must be thread-safe.
using RandomSource = std::function<double()>;

/// A random number from 0 to 1 from the operating system. Thread-safe; has no state.
inline double SystemRandom() {
  std::random_device device;
  return static_cast<double>(device()) / static_cast<double>(std::random_device::max());
}

}  // namespace kopp::workqueue
