#pragma once

#include <concepts>
#include <type_traits>

#include <kopp/markers/field_markers.hpp>
#include <kopp/markers/kind_markers.hpp>

/// Markers describe the schema of a custom resource. They stand beside the fields, and are checked
/// against the type of the member when the program is compiled:
///
///     KOPP_FIELDS(Foo::Spec, KOPP_FIELD(deploymentName, Doc("The name."), MaxLength(63)),
///                 KOPP_FIELD(replicas, Minimum(1), Maximum(10), Default(3)))
///     KOPP_CRD(Foo, ShortNames("fo"), StatusSubresource(),
///              PrintColumn("Replicas", "integer", ".spec.replicas"))
///
/// All are constants of the namespace kopp::markers, which needs no qualification in these lists.
/// CustomResourceDefinitionOf in <kopp/crd.hpp> makes the CustomResourceDefinition from them.
///
/// Without the markers Required and Optional, a field is required, except
/// - a std::optional, a list, a map and RawJson, which kopp omits when they are empty,
/// - a field with Default,
/// - `metadata` and `status` of the object.
///
/// Each marker is the keyword of OpenAPI or the Kubernetes extension with its name, and has the
/// meaning of the marker of controller-gen with its name.
///
/// KOPP_CRD(Type, markers…) declares that the program owns the CustomResourceDefinition of a kind.
/// Write it after KOPP_FIELDS, in the same namespace. Group, version, kind, plural name and scope
/// come from Type::kKind. Doc and Validation may also stand there: they apply to the whole object.
#define KOPP_CRD(Type, ...)                                                     \
  [[maybe_unused]] constexpr bool KoppCheckCrd(const Type*) {                   \
    using namespace kopp::markers; /* NOLINT(google-build-using-namespace) */   \
    return kopp::markers::CheckKind<Type>(__VA_ARGS__);                         \
  }                                                                             \
  static_assert(KoppCheckCrd(static_cast<const Type*>(nullptr)));               \
  template <typename KoppVisitor>                                               \
  [[maybe_unused]] void KoppVisitCrd(const Type*, KoppVisitor&& kopp_visitor) { \
    using namespace kopp::markers; /* NOLINT(google-build-using-namespace) */   \
    kopp_visitor.VisitKind(__VA_ARGS__);                                        \
  }

namespace kopp {
namespace detail {

/// Reports markers that exclude each other.
struct MarkerLimits {
  Literal min_value = {};
  Literal max_value = {};
  Literal min_count = {};
  Literal max_count = {};

  constexpr void Add(const Keyword& keyword) {
    if (keyword.name == "minimum") min_value = keyword.value;
    if (keyword.name == "maximum") max_value = keyword.value;
    if (keyword.name.starts_with("min") && keyword.name != "minimum") min_count = keyword.value;
    if (keyword.name.starts_with("max") && keyword.name != "maximum") max_count = keyword.value;
  }
  template <typename Marker>
  constexpr void AddMarker(const Marker& marker) {
    if constexpr (std::derived_from<Marker, KeywordMarker>) Add(marker.first);
  }
  static constexpr void RequireOrder(const Literal& min, const Literal& max) {
    const bool both = min.type != Literal::Type::kNone && max.type != Literal::Type::kNone;
    if (both && min.number > max.number) ErrorTheMinimumIsGreaterThanTheMaximum();
  }
};

template <typename Type, typename Marker>
constexpr bool FitsKind() {
  if constexpr (std::derived_from<Marker, KindMarker>) Marker::template CheckKind<Type>();
  return true;
}

/// Doc and Validation, which describe fields as well as kinds.
template <typename Marker>
concept FieldAndKindMarker =
    std::same_as<Marker, markers::Doc> || std::derived_from<Marker, markers::Validation>;

}  // namespace detail

namespace markers {

/// Checks the markers of a member. Does not compile if one does not fit the type `Member`.
template <typename Member, typename... Markers>
constexpr bool Check(const Markers&... all) {
  (Markers::template CheckMember<detail::MarkedType<std::remove_cvref_t<Member>>>(), ...);
  detail::MarkerLimits limits;
  (limits.AddMarker(all), ...);
  detail::MarkerLimits::RequireOrder(limits.min_value, limits.max_value);
  detail::MarkerLimits::RequireOrder(limits.min_count, limits.max_count);
  return true;
}

template <typename... Markers>
template <typename M>
constexpr void Items<Markers...>::CheckMember() {
  static_assert(detail::IsList<M> || detail::IsMap<M>,
                "Items applies to lists and maps: write its markers without Items");
  using Element = detail::MarkedType<typename detail::ElementOf<M>::Type>;
  (Markers::template CheckMember<Element>(), ...);
}

/// Checks the markers of a kind. Does not compile if one does not fit the struct `Type`.
template <typename Type, typename... Markers>
constexpr bool CheckKind(const Markers&...) {
  static_assert(
      requires { Type::kKind; },
      "KOPP_CRD: the struct has no kKind: add `static constexpr kopp::Kind "
      "kKind{\"example.com/v1\", \"Foo\", \"foos\"};`");
  static_assert(((std::derived_from<Markers, detail::KindMarker> ||
                  detail::FieldAndKindMarker<Markers>)&&...),
                "KOPP_CRD takes markers of kinds, such as ShortNames: write markers of fields in "
                "KOPP_FIELDS");
  return (detail::FitsKind<Type, Markers>() && ...);
}

}  // namespace markers
}  // namespace kopp
