#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <utility>

namespace kopp::detail {

template <typename T>
concept Number = (std::integral<T> || std::floating_point<T>)&&!std::same_as<T, bool>;

/// Whether a number is an integer of 64 bits.
template <Number N>
constexpr bool FitsInt64(N value) {
  if constexpr (std::integral<N>) {
    return std::in_range<std::int64_t>(value);
  } else {
    constexpr N kEnd = 9223372036854775808.0F;  // 2^63
    return value >= -kEnd && value < kEnd;
  }
}

/// A constant in a marker. Does not own its text, which is a string literal.
struct Literal {
  enum class Type { kNone, kBoolean, kInteger, kNumber, kText };

  Type type = Type::kNone;
  bool boolean = false;
  std::int64_t integer = 0;  ///< 0 if the number is outside 64 bits
  double number = 0;         ///< also set for an integer
  std::string_view text = {};

  constexpr Literal() = default;
  template <std::same_as<bool> B>
  constexpr Literal(B value)  // NOLINT(google-explicit-constructor)
      : type(Type::kBoolean), boolean(value) {}
  template <Number N>
  constexpr Literal(N value)  // NOLINT(google-explicit-constructor)
      : type(std::integral<N> && FitsInt64(value) ? Type::kInteger : Type::kNumber),
        integer(FitsInt64(value) ? static_cast<std::int64_t>(value) : 0),
        number(static_cast<double>(value)) {}
  constexpr Literal(const char* value)  // NOLINT(google-explicit-constructor)
      : type(Type::kText), text(value) {}
  constexpr Literal(std::string_view value)  // NOLINT(google-explicit-constructor)
      : type(Type::kText), text(value) {}
};

/// A keyword of a schema: "minimum" with 1.
struct Keyword {
  std::string_view name = {};
  Literal value = {};
};

/// A marker that sets one or two keywords. A keyword without a name is not set.
struct KeywordMarker {
  Keyword first = {};
  Keyword second = {};
};

}  // namespace kopp::detail
