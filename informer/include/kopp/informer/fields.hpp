#pragma once
#pragma GCC system_header  // a wrong entry of KOPP_FIELDS is an error at the line of the list

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <kopp/informer/decode_error.hpp>
#include <kopp/informer/detail/enum_names.hpp>
#include <kopp/informer/detail/field_macros.hpp>
#include <kopp/informer/detail/json_fields.hpp>

/// Declares which members of a struct are JSON fields:
/// `KOPP_FIELDS(Foo::Spec, deploymentName, replicas)`. Write it in the namespace of the struct,
/// after the struct. It enables
///
/// - decoding from JSON text: `kopp::Decode<Foo>(text)`. Fields that are not listed are skipped
///   without parsing or allocating them. A null or missing field leaves the member unchanged;
/// - encoding: `kopp::Encode(foo)`. Empty strings, lists, maps and optionals are omitted; numbers
///   and booleans are always written. To write an empty string, make the member a
///   std::optional<std::string>;
/// - to_json and from_json for nlohmann::json.
///
/// A member may be bool, any integer or floating-point type, std::string, std::optional,
/// std::vector (not of bool) or std::map<std::string, …> of these, kopp::StringMap,
/// kopp::StringList, kopp::RawJson, an enum with KOPP_ENUM above, or a struct with KOPP_FIELDS
/// above. The member has the name of the JSON field; KOPP_FIELD gives it another name.
///
/// Each member must be in the list, and each name in the list must be a member: otherwise there is
/// one compile error for each. Only a struct with a base class, a constructor or private members is
/// not checked for members that are missing in the list. A list has at most 256 fields.
#define KOPP_FIELDS(Type, ...)                                                            \
  inline kopp::detail::Fields KoppFields(const Type*) KOPP_FIELD_TABLE(Type, __VA_ARGS__) \
      KOPP_FIELD_JSON(Type) KOPP_FIELD_VISIT_ALL(Type, __VA_ARGS__)

/// An entry of KOPP_FIELDS with a JSON name, with markers (see kopp/markers.hpp) or with both:
///
///     KOPP_FIELD(ns, "namespace")
///     KOPP_FIELD(replicas, Minimum(0), Doc("The number of Pods."))
///     KOPP_FIELD(ns, "namespace", MaxLength(63))
#define KOPP_FIELD(member, ...) (FIELD, member __VA_OPT__(, ) __VA_ARGS__)

/// An entry of KOPP_FIELDS for a member that is not a JSON field. It may have any type.
#define KOPP_IGNORE(member) (IGNORE, member)

/// KOPP_FIELDS in two parts, for a struct that many source files include: the declaration stands in
/// the header, and the list in one source file, in the same namespace. The fields have no markers
/// that a schema could show.
#define KOPP_DECLARE_FIELDS(Type)               \
  kopp::detail::Fields KoppFields(const Type*); \
  KOPP_FIELD_JSON(Type)
#define KOPP_DEFINE_FIELDS(Type, ...) \
  kopp::detail::Fields KoppFields(const Type*) KOPP_FIELD_TABLE(Type, __VA_ARGS__)

/// The markers of a field: see kopp/markers.hpp. Entries of KOPP_FIELDS name them without the
/// namespace.
namespace kopp::markers {}

namespace kopp {

/// Decodes an object from JSON text. Throws DecodeError. Values of fields that are not listed are
/// skipped without full validation.
template <detail::HasFieldList T>
[[nodiscard]] T Decode(std::string_view text) {
  T object{};
  detail::DecodeText(text, &object, KoppFields(&object));
  return object;
}

/// Returns the listed fields of `object` as JSON text. Invalid UTF-8 is replaced by U+FFFD; numbers
/// that are not finite become null.
template <detail::HasFieldList T>
[[nodiscard]] std::string Encode(const T& object) {
  std::string text;
  detail::Encoder encoder{text};
  detail::EncodeFields(encoder, &object, KoppFields(&object));
  return text;
}

}  // namespace kopp
