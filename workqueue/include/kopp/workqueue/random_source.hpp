#pragma once

#include <functional>
#include <random>

namespace kopp::workqueue {

/// A function that returns a random number from 0 to 1. Back-off and retries use it for their
/// jitter, so tests can choose the numbers. It must be thread-safe.
using RandomSource = std::function<double()>;

/// Returns a random number from 0 to 1 from the operating system. Thread-safe; has no state.
inline double SystemRandom() {
  std::random_device device;
  return static_cast<double>(device()) / static_cast<double>(std::random_device::max());
}

}  // namespace kopp::workqueue
