#include "system/uuid.hpp"

#include <cstdint>
#include <random>
#include <string_view>

namespace kopp::detail {
namespace {

/// Returns 64 random bits. Each thread has its own generator, so that threads do not wait for each
/// other or for the operating system.
std::uint64_t RandomBits() {
  thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return generator();
}

}  // namespace

std::string RandomUuid() {
  constexpr std::string_view kPattern = "xxxxxxxx-xxxx-4xxx-Nxxx-xxxxxxxxxxxx";
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::size_t kDigitsPerNumber = 16;
  constexpr std::size_t kVariant = 0x8;  // of RFC 9562: the two highest bits of N are 10
  std::string uuid(kPattern);
  std::uint64_t bits = 0;
  std::size_t used = kDigitsPerNumber;
  for (char& digit : uuid) {
    if (digit != 'x' && digit != 'N') continue;
    if (used == kDigitsPerNumber) {
      bits = RandomBits();
      used = 0;
    }
    const std::size_t value = bits & 0xFU;
    digit = kDigits[digit == 'x' ? value : (value & 0x3U) | kVariant];
    bits >>= 4U;
    ++used;
  }
  return uuid;
}

}  // namespace kopp::detail
