#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>

namespace kopp::workqueue {

/// What a queue can hold: a small value that names a piece of work, such as a kopp::ObjectKey.
template <typename T>
concept Item = std::copyable<T> && std::equality_comparable<T> && requires(const T& item) {
  { std::hash<T>{}(item) } -> std::convertible_to<std::size_t>;
};

/// An item and how far in front it goes, where the order of its queue has priorities.
template <Item T>
struct Prioritized {
  T item;
  int priority = 0;
};

namespace detail {

inline std::uint64_t Load(const char* from, std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

/// Each bit of the answer depends on each bit of both.
inline std::uint64_t Fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline constexpr std::uint64_t kOdd1 = 0x9E3779B97F4A7C15;  // the golden ratio's fraction
inline constexpr std::uint64_t kOdd2 = 0xB7E151628AED2A6B;  // and that of e

}  // namespace detail

/// A hash of some bytes, 16 at a time: it takes a fifth of the time of std::hash. Another `seed`,
/// other hashes: who names objects cannot know which of them collide.
inline std::uint64_t HashBytes(std::string_view bytes, std::uint64_t seed) {
  using detail::Fold;
  using detail::kOdd1;
  using detail::kOdd2;
  using detail::Load;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t hash = seed ^ kOdd1;
  for (; left > 16; at += 16, left -= 16) hash = Fold(Load(at, 8) ^ kOdd2, Load(at + 8, 8) ^ hash);
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (left >= 8) {
    first = Load(at, 8);
    last = Load(at + left - 8, 8);
  } else if (left >= 4) {
    first = Load(at, 4);
    last = Load(at + left - 4, 4);
  } else if (left > 0) {
    first = Load(at, 1) | Load(at + left / 2, 1) << 8 | Load(at + left - 1, 1) << 16;
  }
  return Fold(kOdd1 ^ bytes.size(), Fold(first ^ kOdd2, last ^ hash));
}

/// How an ItemTable hashes. A type that is made of strings has a specialisation, for speed.
template <Item T>
struct ItemHash {
  std::uint64_t operator()(const T& item, std::uint64_t seed) const {
    if constexpr (std::convertible_to<const T&, std::string_view>) {
      return HashBytes(item, seed);
    } else {
      return detail::Fold(std::hash<T>{}(item) ^ seed, detail::kOdd1);
    }
  }
};

}  // namespace kopp::workqueue
