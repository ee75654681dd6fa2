#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <limits>
#include <system_error>

#include <unistd.h>

namespace kopp::workqueue {

/// A function that returns a random number from 0 to 1. Back-off and retries use it for their
/// jitter, so tests can choose the numbers. It must be thread-safe.
using RandomSource = std::function<double()>;

/// Returns 64 random bits from the operating system, for example to seed a generator. Thread-safe;
/// has no state. Throws std::system_error if the operating system has none.
inline std::uint64_t RandomSeed() {
  // Not std::random_device: <random> adds a tenth of a second to each compile.
  std::uint64_t bits = 0;
  if (::getentropy(&bits, sizeof bits) != 0) {
    throw std::system_error(errno, std::generic_category(), "getentropy");
  }
  return bits;
}

/// Returns a random number from 0 to 1 from the operating system. Thread-safe; has no state.
/// Throws std::system_error if the operating system has none.
inline double SystemRandom() {
  return static_cast<double>(RandomSeed()) /
         static_cast<double>(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace kopp::workqueue
