#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include <kopp/workqueue/item.hpp>

namespace kopp::workqueue {

namespace detail {

inline std::uint64_t LoadBytes(const char* from, std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

/// Mixes two words: returns the XOR of the two halves of their 128-bit product.
inline std::uint64_t FoldedMultiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// 64 fractional bits of the golden ratio.
inline constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;
// 64 fractional bits of e.
inline constexpr std::uint64_t kEulerNumber = 0xB7E151628AED2A6B;

}  // namespace detail

/// Returns a hash of `bytes`. It is faster than std::hash for strings. The secret `seed` prevents
/// hash-flooding attacks. The value depends on the platform: do not store it.
inline std::uint64_t HashBytes(std::string_view bytes, std::uint64_t seed) {
  using detail::FoldedMultiply;
  using detail::LoadBytes;
  const std::uint64_t secret = seed ^ detail::kEulerNumber;
  const char* position = bytes.data();
  std::size_t remaining = bytes.size();
  std::uint64_t hash = seed ^ detail::kGoldenRatio;
  for (; remaining > 16; position += 16, remaining -= 16) {
    hash = FoldedMultiply(LoadBytes(position, 8) ^ secret, LoadBytes(position + 8, 8) ^ hash);
  }
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (remaining >= 8) {
    first = LoadBytes(position, 8);
    last = LoadBytes(position + remaining - 8, 8);
  } else if (remaining >= 4) {
    first = LoadBytes(position, 4);
    last = LoadBytes(position + remaining - 4, 4);
  } else if (remaining > 0) {
    first = LoadBytes(position, 1) | LoadBytes(position + remaining / 2, 1) << 8 |
            LoadBytes(position + remaining - 1, 1) << 16;
  }
  return FoldedMultiply(detail::kGoldenRatio ^ bytes.size(),
                        FoldedMultiply(first ^ secret, last ^ hash));
}

/// The hash function that queues and rate limiters use for their items.
///
/// You can specialize it for your own type, for example with HashBytes for a type that consists of
/// strings. A specialization must be thread-safe, must return equal hashes for equal items and the
/// same seed, and should distribute the upper 32 bits well, because only these are used.
template <Item T>
struct ItemHash {
  std::uint64_t operator()(const T& item, std::uint64_t seed) const {
    if constexpr (std::same_as<T, std::string> || std::same_as<T, std::string_view>) {
      return HashBytes(item, seed);
    } else {
      return detail::FoldedMultiply(std::hash<T>{}(item) ^ seed, detail::kGoldenRatio);
    }
  }
};

}  // namespace kopp::workqueue
