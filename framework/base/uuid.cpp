#include "base/uuid.hpp"

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

std::string RandomHexDigits(std::size_t count) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  digits.reserve(count);
  std::uint64_t bits = 1;
  while (digits.size() < count) {
    if (bits <= 1) bits = RandomBits() | (std::uint64_t{1} << 63U);
    digits += kDigits[bits & 0xFU];
    bits >>= 4U;
  }
  if (digits.find_first_not_of('0') == std::string::npos) digits.back() = '1';
  return digits;
}

}  // namespace kopp::detail
