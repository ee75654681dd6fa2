#pragma once
#pragma GCC system_header  // see fields.hpp

#include <kopp/informer/detail/enum_names.hpp>
#include <kopp/informer/detail/field_checks.hpp>
#include <kopp/informer/detail/for_each.hpp>

// Implementation of KOPP_FIELDS. An entry is a member name, or the list (kind, member, arguments)
// to which KOPP_FIELD or KOPP_IGNORE expands. KOPP_FIELD_USE(macro, context, entry) expands to
// macro_FIELD(context, member, arguments) or macro_IGNORE(context, member).
#define KOPP_FIELD_USE(macro, context, x) \
  KOPP_JOIN(KOPP_FIELD_USE_, KOPP_IS_PAREN(x))(macro, context, x)
#define KOPP_FIELD_USE_0(macro, context, member) macro##_FIELD(context, member)
#define KOPP_FIELD_USE_1(macro, context, x) KOPP_FIELD_USE_NOW(macro, context, KOPP_REMOVE_PARENS x)
#define KOPP_FIELD_USE_NOW(macro, context, ...) KOPP_FIELD_USE_KIND(macro, context, __VA_ARGS__)
#define KOPP_FIELD_USE_KIND(macro, context, kind, ...) macro##_##kind(context, __VA_ARGS__)

// The body of KoppFields. It is a template, so that a wrong entry is not a compile error by itself:
// all entries are checked first, and a static_assert then explains each wrong entry.
#define KOPP_FIELD_TABLE(Type, ...)                                                            \
  {                                                                                            \
    return []<typename KoppType>(const KoppType*) {                                            \
      using namespace kopp::markers;                                                           \
      if constexpr (requires {                                                                 \
                      sizeof(KoppType);                                                        \
                      KOPP_FOR_EACH(KOPP_FIELD_REQUIRE, Type, __VA_ARGS__)                     \
                    }) {                                                                       \
        static constexpr kopp::detail::Field kFields[] = {                                     \
            KOPP_FOR_EACH(KOPP_FIELD_ROW, Type, __VA_ARGS__) kopp::detail::Field{}};           \
        constexpr kopp::detail::Fields kWithoutEnd{kFields, std::size(kFields) - 1};           \
        static_assert(                                                                         \
            !kopp::detail::HasUnlistedMember<KoppType, 0 KOPP_FOR_EACH(KOPP_FIELD_COUNT, Type, \
                                                                       __VA_ARGS__)>(),        \
            "KOPP_FIELDS: a member of " #Type                                                  \
            " is not in the list: list it, or write KOPP_IGNORE(member)");                     \
        static_assert(!kopp::detail::HasDuplicate(kWithoutEnd),                                \
                      "KOPP_FIELDS: two entries of " #Type " have the same name: remove one"); \
        return kWithoutEnd;                                                                    \
      } else {                                                                                 \
        KOPP_FOR_EACH(KOPP_FIELD_EXPLAIN, Type, __VA_ARGS__)                                   \
        return kopp::detail::Fields{};                                                         \
      }                                                                                        \
    }(static_cast<const Type*>(nullptr));                                                      \
  }

#define KOPP_FIELD_JSON(Type)                                                              \
  [[maybe_unused]] inline void to_json(nlohmann::json& kopp_to, const Type& kopp_from) {   \
    kopp::detail::ToJson(kopp_to, &kopp_from, KoppFields(&kopp_from));                     \
  }                                                                                        \
  [[maybe_unused]] inline void from_json(const nlohmann::json& kopp_from, Type& kopp_to) { \
    kopp::detail::FromJson(kopp_from, &kopp_to, KoppFields(&kopp_to));                     \
  }

#define KOPP_FIELD_VISIT_ALL(Type, ...)                                                      \
  template <typename KoppVisitor>                                                            \
  constexpr void KoppVisitFields(const Type*, [[maybe_unused]] KoppVisitor&& kopp_visitor) { \
    using KoppType [[maybe_unused]] =                                                        \
        typename kopp::detail::DependentType<Type, KoppVisitor>::Self;                       \
    using namespace kopp::markers;                                                           \
    KOPP_FOR_EACH(KOPP_FIELD_VISIT, Type, __VA_ARGS__)                                       \
  }

#define KOPP_FIELD_REQUIRE(Type, x) KOPP_FIELD_USE(KOPP_REQUIRE, Type, x)
#define KOPP_REQUIRE_FIELD(Type, member, ...) \
  requires kopp::detail::kIsJsonField<decltype(KoppType::member)>;
#define KOPP_REQUIRE_IGNORE(Type, member) &KoppType::member;

#define KOPP_FIELD_ROW(Type, x) KOPP_FIELD_USE(KOPP_ROW, Type, x)
#define KOPP_ROW_FIELD(Type, member, ...)               \
  kopp::detail::MakeField<KoppType, &KoppType::member>( \
      kopp::detail::FieldName(#member __VA_OPT__(, ) __VA_ARGS__)),
#define KOPP_ROW_IGNORE(Type, member)

// Counts the entries, and checks the markers of each.
#define KOPP_FIELD_COUNT(Type, x) KOPP_FIELD_USE(KOPP_COUNT, Type, x)
#define KOPP_COUNT_FIELD(Type, member, ...) \
  +1 __VA_OPT__(*kopp::detail::CheckMarkers<decltype(KoppType::member)>(__VA_ARGS__))
#define KOPP_COUNT_IGNORE(Type, member) +kopp::detail::kInitializersOf<decltype(KoppType::member)>

#define KOPP_FIELD_VISIT(Type, x) KOPP_FIELD_USE(KOPP_VISIT, Type, x)
#define KOPP_VISIT_FIELD(Type, member, ...)                           \
  kopp::detail::VisitField<KoppType, &KoppType::member>(kopp_visitor, \
                                                        #member __VA_OPT__(, ) __VA_ARGS__);
#define KOPP_VISIT_IGNORE(Type, member)

#define KOPP_FIELD_EXPLAIN(Type, x) KOPP_FIELD_USE(KOPP_EXPLAIN, Type, x)
#define KOPP_EXPLAIN_IGNORE(Type, member) \
  static_assert(                          \
      requires { &KoppType::member; },    \
      "KOPP_FIELDS: " #Type " has no member '" #member "': correct the name in the list");
#define KOPP_EXPLAIN_FIELD(Type, member, ...)                                                      \
  KOPP_EXPLAIN_IGNORE(Type, member)                                                                \
  if constexpr (requires { &KoppType::member; }) {                                                 \
    using KoppProblem = kopp::detail::MemberProblem;                                               \
    constexpr KoppProblem kKoppProblem = kopp::detail::ProblemOf<decltype(KoppType::member)>();    \
    static_assert(kKoppProblem != KoppProblem::kEnum,                                              \
                  "KOPP_FIELDS: the type of " #Type "::" #member                                   \
                  " is an enum without names: list them above with KOPP_ENUM");                    \
    static_assert(kKoppProblem != KoppProblem::kStruct,                                            \
                  "KOPP_FIELDS: the type of " #Type "::" #member                                   \
                  " has no field list: write its KOPP_FIELDS above this one");                     \
    static_assert(kKoppProblem != KoppProblem::kVectorBool,                                        \
                  "KOPP_FIELDS: " #Type "::" #member                                               \
                  " is a std::vector<bool>, which is not "                                         \
                  "supported: use std::vector<int>, for "                                          \
                  "example");                                                                      \
    static_assert(kKoppProblem != KoppProblem::kPointer,                                           \
                  "KOPP_FIELDS: " #Type "::" #member                                               \
                  " is a pointer or a reference: use std::optional, or write KOPP_IGNORE(" #member \
                  ")");                                                                            \
    static_assert(kKoppProblem != KoppProblem::kUnsupported,                                       \
                  "KOPP_FIELDS: the type of " #Type "::" #member                                   \
                  " has no form in JSON: use a type that KOPP_FIELDS documents, or write "         \
                  "KOPP_IGNORE(" #member ")");                                                     \
  }
