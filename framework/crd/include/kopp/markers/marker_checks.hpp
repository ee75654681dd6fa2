#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <kopp/informer/fields.hpp>
#include <kopp/markers/literal.hpp>

// The base classes of the markers of fields, which check the type of the member.

namespace kopp::detail {

template <typename M>
struct MarkedTypeOf {
  using Type = M;
};
template <typename M>
  requires kIsOptional<M>
struct MarkedTypeOf<M> : MarkedTypeOf<typename M::value_type> {};
template <IsInterned M>
struct MarkedTypeOf<M> : MarkedTypeOf<typename M::container_type> {};
/// The type of a member without std::optional, k8s::Optional and Interned.
template <typename M>
using MarkedType = typename MarkedTypeOf<M>::Type;

template <typename M>
concept IsList = kIsVector<M>;
template <typename M>
concept IsMap = kIsMap<M>;
/// A string, an enum or another type that JSON has no name for, such as a quantity.
template <typename M>
concept IsText = !std::is_arithmetic_v<M> && !IsList<M> && !IsMap<M> && !HasFieldList<M>;

// Not constexpr: their call in a constant expression is the message of the compiler.
inline void ErrorTheMinimumIsGreaterThanTheMaximum() {}
inline void ErrorTheLengthOrCountMustNotBeNegative() {}
inline void ErrorMultipleOfMustBeGreaterThanZero() {}
inline void ErrorListTypeMustBeAtomicOrSetOrMap() {}
inline void ErrorMapTypeMustBeAtomicOrGranular() {}
inline void ErrorTheRuleIsEmpty() {}
inline void ErrorTheReasonOfARuleMustBeOneOfFieldValueInvalidForbiddenRequiredDuplicate() {}
inline void ErrorTheTextIsEmpty() {}

template <typename M>
struct ElementOf {
  using Type = M;
};
template <IsList M>
struct ElementOf<M> {
  using Type = typename M::value_type;
};
template <IsMap M>
struct ElementOf<M> {
  using Type = typename M::mapped_type;
};

constexpr Literal NotNegative(std::int64_t count) {
  if (count < 0) ErrorTheLengthOrCountMustNotBeNegative();
  return count;
}
constexpr std::string_view NotEmpty(std::string_view text) {
  if (text.empty()) ErrorTheTextIsEmpty();
  return text;
}

/// A marker for members of every type.
struct AnyMarker : KeywordMarker {
  template <typename M>
  static constexpr void CheckMember() {}
};
struct NumberMarker : KeywordMarker {
  template <typename M>
  static constexpr void CheckMember() {
    static_assert(Number<M>,
                  "Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum and MultipleOf apply to "
                  "numbers: remove the marker, or give the member a number type");
  }
};
struct TextMarker : KeywordMarker {
  template <typename M>
  static constexpr void CheckMember() {
    static_assert(IsText<M>,
                  "MinLength, MaxLength and Pattern apply to strings: remove the marker (MinItems "
                  "is for lists, MinProperties for maps), or give the member the type std::string");
  }
};
struct ListMarker : KeywordMarker {
  template <typename M>
  static constexpr void CheckMember() {
    static_assert(IsList<M>,
                  "MinItems, MaxItems, ListType and ListMapKeys apply to lists: remove the marker, "
                  "or give the member the type std::vector or kopp::k8s::List");
  }
};
struct PropertiesMarker : KeywordMarker {
  template <typename M>
  static constexpr void CheckMember() {
    static_assert(IsMap<M> || HasFieldList<M> || std::same_as<M, RawJson>,
                  "MinProperties, MaxProperties, MapType and StructType apply to maps and structs: "
                  "remove the marker");
  }
};

}  // namespace kopp::detail
