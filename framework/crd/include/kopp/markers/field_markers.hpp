#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <kopp/informer/fields.hpp>
#include <kopp/markers/literal.hpp>
#include <kopp/markers/marker_checks.hpp>

// The markers of fields. See <kopp/markers.hpp>.

namespace kopp::markers {

/// The description of the field, which `kubectl explain` shows.
struct Doc : detail::AnyMarker {
  constexpr explicit Doc(std::string_view text)
      : AnyMarker{{{"description", detail::NotEmpty(text)}, {}}} {}
};
/// The field has to be set. See <kopp/markers.hpp> for fields without the marker.
struct Required : detail::AnyMarker {};
/// The field need not be set.
struct Optional : detail::AnyMarker {};
/// null is a valid value, and is stored.
struct Nullable : detail::AnyMarker {
  constexpr Nullable() : AnyMarker{{{"nullable", true}, {}}} {}
};

struct Minimum : detail::NumberMarker {
  template <detail::Number N>
  constexpr explicit Minimum(N value) : NumberMarker{{{"minimum", value}, {}}} {}
};
struct Maximum : detail::NumberMarker {
  template <detail::Number N>
  constexpr explicit Maximum(N value) : NumberMarker{{{"maximum", value}, {}}} {}
};
/// The value has to be greater than `value`.
struct ExclusiveMinimum : detail::NumberMarker {
  template <detail::Number N>
  constexpr explicit ExclusiveMinimum(N value)
      : NumberMarker{{{"minimum", value}, {"exclusiveMinimum", true}}} {}
};
/// The value has to be less than `value`.
struct ExclusiveMaximum : detail::NumberMarker {
  template <detail::Number N>
  constexpr explicit ExclusiveMaximum(N value)
      : NumberMarker{{{"maximum", value}, {"exclusiveMaximum", true}}} {}
};
struct MultipleOf : detail::NumberMarker {
  template <detail::Number N>
  constexpr explicit MultipleOf(N value) : NumberMarker{{{"multipleOf", value}, {}}} {
    if (value <= 0) detail::ErrorMultipleOfMustBeGreaterThanZero();
  }
};

/// Lengths are numbers of characters (Unicode code points).
struct MinLength : detail::TextMarker {
  constexpr explicit MinLength(std::int64_t length)
      : TextMarker{{{"minLength", detail::NotNegative(length)}, {}}} {}
};
struct MaxLength : detail::TextMarker {
  constexpr explicit MaxLength(std::int64_t length)
      : TextMarker{{{"maxLength", detail::NotNegative(length)}, {}}} {}
};
/// A regular expression in RE2 syntax that a part of the text matches: use ^ and $ for the whole.
struct Pattern : detail::TextMarker {
  constexpr explicit Pattern(std::string_view expression)
      : TextMarker{{{"pattern", detail::NotEmpty(expression)}, {}}} {}
};
/// "date-time", "ipv4", "uri" …; replaces the format that kopp chooses, "int32" or "int64".
struct Format : detail::AnyMarker {
  constexpr explicit Format(std::string_view name)
      : AnyMarker{{{"format", detail::NotEmpty(name)}, {}}} {}
};

struct MinItems : detail::ListMarker {
  constexpr explicit MinItems(std::int64_t count)
      : ListMarker{{{"minItems", detail::NotNegative(count)}, {}}} {}
};
struct MaxItems : detail::ListMarker {
  constexpr explicit MaxItems(std::int64_t count)
      : ListMarker{{{"maxItems", detail::NotNegative(count)}, {}}} {}
};
/// Does not compile, because API servers refuse uniqueItems.
struct UniqueItems : detail::ListMarker {
  template <typename M>
  static constexpr void CheckMember() {
    static_assert(!std::same_as<M, M>,
                  "the API server refuses uniqueItems: use ListType(\"set\") for unique scalars, "
                  "or ListMapKeys(\"name\") for structs with a unique name");
  }
};
struct MinProperties : detail::PropertiesMarker {
  constexpr explicit MinProperties(std::int64_t count)
      : PropertiesMarker{{{"minProperties", detail::NotNegative(count)}, {}}} {}
};
struct MaxProperties : detail::PropertiesMarker {
  constexpr explicit MaxProperties(std::int64_t count)
      : PropertiesMarker{{{"maxProperties", detail::NotNegative(count)}, {}}} {}
};

/// How server-side apply merges a list: "atomic", "set" (unique scalars) or "map"; see ListMapKeys.
struct ListType : detail::ListMarker {
  constexpr explicit ListType(std::string_view type)
      : ListMarker{{{"x-kubernetes-list-type", type}, {}}} {
    if (type != "atomic" && type != "set" && type != "map") {
      detail::ErrorListTypeMustBeAtomicOrSetOrMap();
    }
  }
};
/// How server-side apply merges a map: "granular" (the default) or "atomic".
struct MapType : detail::PropertiesMarker {
  constexpr explicit MapType(std::string_view type)
      : PropertiesMarker{{{"x-kubernetes-map-type", type}, {}}} {
    if (type != "atomic" && type != "granular") detail::ErrorMapTypeMustBeAtomicOrGranular();
  }
};
/// The same for a struct.
struct StructType : MapType {
  using MapType::MapType;
};
/// The items are structs with unique values of these fields, which are required or have a default.
/// Implies ListType("map").
template <std::size_t kCount>
struct ListMapKeys : detail::ListMarker {
  template <typename... Names>
  constexpr explicit ListMapKeys(Names... keys)
      : ListMarker{{{"x-kubernetes-list-type", "map"}, {}}}, names{std::string_view(keys)...} {}
  template <typename M>
  static constexpr void CheckMember() {
    ListMarker::CheckMember<M>();
    static_assert(detail::HasFieldList<typename detail::ElementOf<M>::Type>,
                  "ListMapKeys applies to lists of structs: use ListType(\"set\") for scalars");
  }
  std::array<std::string_view, kCount> names;
};
template <typename... Names>
ListMapKeys(Names...) -> ListMapKeys<sizeof...(Names)>;

/// The values that the field may have. Not needed for a C++ enum with KOPP_ENUM.
template <typename T, std::size_t kCount>
struct Enum {
  template <typename... Values>
  constexpr explicit Enum(Values... all) : values{detail::Literal(all)...} {}
  template <typename M>
  static constexpr void CheckMember() {
    static_assert(
        (detail::Number<T> && detail::Number<M>) || (!detail::Number<T> && detail::IsText<M>),
        "Enum: the values do not have the type of the member: write strings for a "
        "string, and numbers for a number");
  }
  std::array<detail::Literal, kCount> values;
};
template <typename T, typename... Values>
Enum(T, Values...) -> Enum<T, 1 + sizeof...(Values)>;

/// The value that the API server sets if the field is missing. For a struct, list or map: JSON
/// text, such as Default("{}").
template <typename T>
struct Default {
  constexpr explicit Default(T set_value) : value(set_value) {}
  template <typename M>
  static constexpr void CheckMember() {
    constexpr bool kText = std::convertible_to<T, std::string_view>;
    static_assert(
        (std::same_as<M, bool> && std::same_as<T, bool>) ||
            (std::integral<M> && std::integral<T> && !std::same_as<M, bool> &&
             !std::same_as<T, bool>) ||
            (std::floating_point<M> && detail::Number<T>) || (!std::is_arithmetic_v<M> && kText) ||
            (detail::IsText<M> && !std::same_as<M, std::string>),
        "Default: the value does not have the type of the member: write 3 for an integer, 0.5 for "
        "a number, true for a bool, \"text\" for a string or an enum, and JSON text such as "
        "\"{}\" for a struct, list or map");
  }
  detail::Literal value;
};

/// Options of Validation.
struct RuleOptions {
  /// "FieldValueInvalid" (the default), "FieldValueForbidden", "FieldValueRequired" or
  /// "FieldValueDuplicate".
  std::string_view reason = {};
  std::string_view message_expression = {};  ///< a CEL expression for the message
  std::string_view field_path = {};          ///< the field to blame: ".replicas"
  bool optional_old_self = false;  ///< evaluate a rule with oldSelf also when there is no old value
};
/// A CEL rule: x-kubernetes-validations. `self` is the field, `oldSelf` its value before an update.
/// Only the API server evaluates it.
struct Validation : detail::AnyMarker {
  constexpr explicit Validation(std::string_view cel_rule, std::string_view rule_message = {},
                                const RuleOptions& rule_options = {})
      : rule(cel_rule), message(rule_message), options(rule_options) {
    if (rule.empty()) detail::ErrorTheRuleIsEmpty();
    const std::string_view reason = options.reason;
    if (!reason.empty() && reason != "FieldValueInvalid" && reason != "FieldValueForbidden" &&
        reason != "FieldValueRequired" && reason != "FieldValueDuplicate") {
      detail::ErrorTheReasonOfARuleMustBeOneOfFieldValueInvalidForbiddenRequiredDuplicate();
    }
  }
  std::string_view rule;
  std::string_view message;
  RuleOptions options;
};
/// The field keeps the value with which it was created: Validation("self == oldSelf", …). An
/// optional field may still be added and removed.
struct Immutable : Validation {
  constexpr Immutable() : Validation("self == oldSelf", "field is immutable") {}
};

/// The value is an integer or a string, such as 80 or "http". For members of the type RawJson or of
/// a type with a JSON form of its own.
struct IntOrString : detail::AnyMarker {
  constexpr IntOrString() : AnyMarker{{{"x-kubernetes-int-or-string", true}, {}}} {}
  template <typename M>
  static constexpr void CheckMember() {
    static_assert(detail::IsText<M> && !std::same_as<M, std::string>,
                  "IntOrString: this member cannot hold an integer and a string: give it the type "
                  "kopp::RawJson or kopp::k8s::IntOrString");
  }
};
/// The API server keeps fields that the schema does not name.
struct PreserveUnknownFields : detail::AnyMarker {
  constexpr PreserveUnknownFields()
      : AnyMarker{{{"x-kubernetes-preserve-unknown-fields", true}, {}}} {}
};
/// The value is a whole Kubernetes object with apiVersion, kind and metadata.
struct EmbeddedResource : detail::PropertiesMarker {
  constexpr EmbeddedResource()
      : PropertiesMarker{{{"x-kubernetes-embedded-resource", true}, {"type", "object"}}} {}
};
/// The schema does not describe the type of the field, only the other markers. Use it with
/// PreserveUnknownFields for a type that contains itself.
struct Schemaless : detail::AnyMarker {};

/// Markers of the items of a list or of the values of a map: Items(MaxLength(63)).
template <typename... Markers>
struct Items {
  constexpr explicit Items(const Markers&... item_markers) : markers(item_markers...) {}
  template <typename M>
  static constexpr void CheckMember();
  std::tuple<Markers...> markers;
};
// Without this guide, Items(Items(…)) would be a copy.
template <typename... Markers>
Items(Items<Markers...>) -> Items<Items<Markers...>>;

}  // namespace kopp::markers
