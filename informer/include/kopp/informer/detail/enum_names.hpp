#pragma once
#pragma GCC system_header  // see fields.hpp

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <kopp/informer/detail/for_each.hpp>

/// Declares the names that the values of an enum have in JSON. Write it in the namespace of the
/// enum, after the enum:
///
///     enum class Phase { kPending, kRunning };
///     KOPP_ENUM(Phase, kPending, kRunning)                           // "Pending", "Running"
///
///     enum class Policy { kAlways, kNever };
///     KOPP_ENUM(Policy, (kAlways, "always"), (kNever, "never"))
///
/// The name of an enumerator in JSON has no leading k. A member of this type is then a JSON field
/// (see KOPP_FIELDS). Decoding throws DecodeError for text that is no name of the enum. A value
/// with the name "" is omitted when it is encoded; encoding a value without a name throws
/// std::invalid_argument.
#define KOPP_ENUM(Type, ...)                                                            \
  inline kopp::detail::EnumNames KoppEnumNames(const Type*) {                           \
    return []<typename KoppType>(const KoppType*) {                                     \
      if constexpr (requires { KOPP_FOR_EACH(KOPP_ENUM_REQUIRE, Type, __VA_ARGS__) }) { \
        static constexpr kopp::detail::EnumName kNames[] = {                            \
            KOPP_FOR_EACH(KOPP_ENUM_NAME, Type, __VA_ARGS__)};                          \
        return kopp::detail::EnumNames{kNames};                                         \
      } else {                                                                          \
        KOPP_FOR_EACH(KOPP_ENUM_EXPLAIN, Type, __VA_ARGS__)                             \
        return kopp::detail::EnumNames{};                                               \
      }                                                                                 \
    }(static_cast<const Type*>(nullptr));                                               \
  }

namespace kopp {

namespace detail {

/// A value of an enum and its name in JSON.
struct EnumName {
  std::string_view name;
  std::int64_t value = 0;
};
using EnumNames = std::span<const EnumName>;

/// An enum with KOPP_ENUM.
template <typename T>
concept HasEnumNames = std::is_enum_v<T> && requires(const T* type) {
  { KoppEnumNames(type) } -> std::same_as<EnumNames>;
};

/// Removes the k of kName.
constexpr std::string_view WithoutPrefix(std::string_view enumerator) {
  const bool has_prefix =
      enumerator.size() > 1 && enumerator[0] == 'k' && enumerator[1] >= 'A' && enumerator[1] <= 'Z';
  return has_prefix ? enumerator.substr(1) : enumerator;
}

/// Returns the name of `value`. Throws std::invalid_argument if it has none.
std::string_view FindEnumName(EnumNames names, std::int64_t value);
/// Returns the value of `name`. Throws DecodeError if there is none.
std::int64_t FindEnumValue(EnumNames names, std::string_view name);

}  // namespace detail

/// Returns the name that `value` has in JSON. Throws std::invalid_argument if KOPP_ENUM does not
/// list it. The text is valid until the program ends.
template <detail::HasEnumNames Enum>
[[nodiscard]] std::string_view JsonNameOf(Enum value) {
  return detail::FindEnumName(KoppEnumNames(&value), static_cast<std::int64_t>(value));
}

}  // namespace kopp

// Implementation of KOPP_ENUM. An entry is an enumerator or (enumerator, "name").
#define KOPP_SECOND(first, second, ...) second
#define KOPP_IS_PAREN_PROBE(...) ~, 1
#define KOPP_IS_PAREN_OF(...) KOPP_SECOND(__VA_ARGS__)
#define KOPP_IS_PAREN(x) KOPP_IS_PAREN_OF(KOPP_IS_PAREN_PROBE x, 0, ~)
#define KOPP_JOIN(a, b) KOPP_JOIN_NOW(a, b)
#define KOPP_JOIN_NOW(a, b) a##b
#define KOPP_REMOVE_PARENS(...) __VA_ARGS__

#define KOPP_ENUMERATOR_0(x) x
#define KOPP_ENUMERATOR_1(x) KOPP_ENUMERATOR_OF x
#define KOPP_ENUMERATOR_OF(enumerator, name) enumerator
#define KOPP_ENUMERATOR(x) KOPP_JOIN(KOPP_ENUMERATOR_, KOPP_IS_PAREN(x))(x)

#define KOPP_ENUM_REQUIRE(Type, x) KoppType::KOPP_ENUMERATOR(x);
#define KOPP_ENUM_EXPLAIN(Type, x) KOPP_ENUM_EXPLAIN_NAME(Type, KOPP_ENUMERATOR(x))
#define KOPP_ENUM_EXPLAIN_NAME(Type, name) KOPP_ENUM_EXPLAIN_NOW(Type, name)
#define KOPP_ENUM_EXPLAIN_NOW(Type, name) \
  static_assert(                          \
      requires { KoppType::name; },       \
      "KOPP_ENUM: the enum " #Type " has no enumerator '" #name "': correct the name");
#define KOPP_ENUM_NAME(Type, x) KOPP_JOIN(KOPP_ENUM_NAME_, KOPP_IS_PAREN(x))(x)
#define KOPP_ENUM_NAME_0(enumerator)                               \
  kopp::detail::EnumName{kopp::detail::WithoutPrefix(#enumerator), \
                         static_cast<std::int64_t>(KoppType::enumerator)},
#define KOPP_ENUM_NAME_1(pair) KOPP_ENUM_NAME_OF pair
#define KOPP_ENUM_NAME_OF(enumerator, name) \
  kopp::detail::EnumName{name, static_cast<std::int64_t>(KoppType::enumerator)},
