#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <kopp/informer/detail/json_fields.hpp>

// The checks that KOPP_FIELDS makes at compile time.

namespace kopp::detail {

/// Why a member cannot be a JSON field.
enum class MemberProblem {
  kNone,
  kEnum,         ///< an enum without KOPP_ENUM
  kStruct,       ///< a struct without KOPP_FIELDS
  kVectorBool,   ///< std::vector<bool>
  kPointer,      ///< a raw pointer or a reference
  kUnsupported,  ///< any other type that has no form in JSON
};

template <typename M>
constexpr MemberProblem ProblemOf() {
  if constexpr (std::is_arithmetic_v<M> || std::same_as<M, std::string> ||
                std::same_as<M, RawJson>) {
    return MemberProblem::kNone;
  } else if constexpr (std::is_pointer_v<M> || std::is_reference_v<M>) {
    return MemberProblem::kPointer;
  } else if constexpr (HasJsonForm<M> || HasFieldList<M> || HasEnumNames<M>) {
    return MemberProblem::kNone;
  } else if constexpr (std::is_enum_v<M>) {
    return MemberProblem::kEnum;
  } else if constexpr (kIsVector<M>) {
    using Element = typename M::value_type;
    return std::same_as<Element, bool> ? MemberProblem::kVectorBool : ProblemOf<Element>();
  } else if constexpr (kIsOptional<M>) {
    return ProblemOf<typename M::value_type>();
  } else if constexpr (kIsMap<M>) {
    return ProblemOf<typename M::mapped_type>();
  } else if constexpr (IsInterned<M>) {
    return ProblemOf<typename M::container_type>();
  } else if constexpr (std::is_class_v<M> && std::is_aggregate_v<M>) {
    return MemberProblem::kStruct;
  } else {
    return MemberProblem::kUnsupported;
  }
}

template <typename M>
constexpr bool kIsJsonField = ProblemOf<M>() == MemberProblem::kNone;

/// Converts to every type, to count the members of a struct. Only declared.
struct AnyValue {
  template <typename T>
  operator T() const;  // NOLINT: intentionally implicit
};

/// Converts to every base class of `T`. Only declared.
template <typename T>
struct AnyBaseOf {
  template <typename Base>
    requires(std::is_base_of_v<Base, T> && !std::same_as<Base, T>)
  operator Base() const;  // NOLINT: intentionally implicit
};

template <typename T, std::size_t... kIndex>
constexpr bool HasMembers(std::index_sequence<kIndex...> /*count*/) {
  return requires { T{(static_cast<void>(kIndex), AnyValue{})...}; };
}

/// The number of initializers of a member: the number of elements for an array, otherwise 1.
template <typename M>
constexpr std::size_t kInitializersOf = 1;
template <typename M, std::size_t kSize>
constexpr std::size_t kInitializersOf<M[kSize]> = kSize * kInitializersOf<M>;

/// Whether the struct has more members than `kListed`. False if that is unknown: a struct with
/// constructors or private members, or with a base class, cannot be counted.
template <typename T, std::size_t kListed>
constexpr bool HasUnlistedMember() {
  if constexpr (!std::is_aggregate_v<T>) {
    return false;
  } else if constexpr (!HasMembers<T>(std::make_index_sequence<kListed + 1>{})) {
    return false;
  } else {
    return !requires { T{AnyBaseOf<T>{}}; };
  }
}

inline constexpr std::size_t kMaxFields = 256;  // of KOPP_FIELDS

constexpr std::uint32_t NameHash(std::string_view name) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

/// Whether two fields have the same name. Compares hashes first: compilers limit the number of
/// steps of a constant expression.
constexpr bool HasDuplicate(Fields fields) {
  std::uint32_t hashes[kMaxFields] = {};
  const Field* const all = fields.data();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    hashes[i] = NameHash(all[i].name);
    for (std::size_t j = 0; j < i; ++j) {
      if (hashes[i] == hashes[j] && all[i].name == all[j].name) return true;
    }
  }
  return false;
}

/// Whether the first argument of a KOPP_FIELD is a JSON name. The others are markers.
template <typename... Arguments>
constexpr bool kStartsWithName = false;
template <typename First, typename... Others>
constexpr bool kStartsWithName<First, Others...> = std::is_convertible_v<const First&, const char*>;

/// Returns the JSON name of a field.
template <typename... Markers>
constexpr std::string_view FieldName(std::string_view /*member*/, const char* json_name,
                                     const Markers&... /*markers*/) {
  return json_name;
}
template <typename... Markers>
  requires(!kStartsWithName<Markers...>)
constexpr std::string_view FieldName(std::string_view member, const Markers&... /*markers*/) {
  return member;
}

/// Calls kopp::markers::Check<Member> with the markers of a field, if it has any. Returns 1.
template <typename Member, typename... Markers>
constexpr std::size_t CheckMarkers(const char* /*json_name*/, const Markers&... markers) {
  if constexpr (sizeof...(Markers) > 0) static_cast<void>(Check<Member>(markers...));
  return 1;
}
template <typename Member, typename... Markers>
  requires(!kStartsWithName<Markers...>)
constexpr std::size_t CheckMarkers(const Markers&... markers) {
  static_cast<void>(Check<Member>(markers...));
  return 1;
}

/// Calls Visit of `visitor` for a field, with its JSON name and its markers.
template <typename Class, auto kMember, typename Visitor, typename... Markers>
constexpr void VisitField(Visitor& visitor, std::string_view /*member*/, const char* json_name,
                          const Markers&... markers) {
  visitor.template Visit<Class, kMember>(std::string_view{json_name}, markers...);
}
template <typename Class, auto kMember, typename Visitor, typename... Markers>
  requires(!kStartsWithName<Markers...>)
constexpr void VisitField(Visitor& visitor, std::string_view member, const Markers&... markers) {
  visitor.template Visit<Class, kMember>(member, markers...);
}

/// The type `T`, but known only when a template with the parameter `Parameter` is instantiated.
template <typename T, typename Parameter>
struct DependentType {
  using Self = T;
};

}  // namespace kopp::detail
