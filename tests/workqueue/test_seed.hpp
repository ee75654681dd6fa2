#pragma once

#include <cstdlib>
#include <iostream>
#include <string>

namespace kopp {

/// Returns the seed of a test with random input: the environment variable KOPP_TEST_SEED, 1 without
/// it. Prints it.
inline unsigned TestSeed() {
  const char* const text = std::getenv("KOPP_TEST_SEED");
  const auto seed = static_cast<unsigned>(text != nullptr ? std::stoul(text) : 1);
  std::cout << "KOPP_TEST_SEED=" << seed << "\n";
  return seed;
}

}  // namespace kopp
