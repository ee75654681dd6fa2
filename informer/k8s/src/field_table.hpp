#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <kopp/informer/fields.hpp>

// Tables of the fields of generated structs. A member is described by its offset, so that all
// members of one type share two functions; a function for each member would take three times as
// long to compile. Include this header only in generated sources.

// The structs contain std::map, so they have no standard layout; but they have no bases either, and
// both compilers that kopp supports give the offset.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

/// Defines KoppFields for a struct that KOPP_DECLARE_FIELDS declares.
#define KOPP_K8S_FIELDS(Type, ...)                                  \
  kopp::detail::Fields KoppFields(const Type*) {                    \
    using KoppType = Type;                                          \
    static constexpr kopp::detail::Field kFields[] = {__VA_ARGS__}; \
    return kFields;                                                 \
  }

/// A struct without fields.
#define KOPP_K8S_NO_FIELDS(Type) \
  kopp::detail::Fields KoppFields(const Type*) { return {}; }

/// An entry of KOPP_K8S_FIELDS.
#define KOPP_K8S_FIELD(member, json_name) \
  kopp::k8s::FieldAt<decltype(KoppType::member)>(json_name, offsetof(KoppType, member))

/// An entry for a struct that is omitted if it would be encoded as {}.
#define KOPP_K8S_STRUCT(member, json_name) \
  kopp::k8s::StructAt<decltype(KoppType::member)>(json_name, offsetof(KoppType, member))

namespace kopp::k8s {

template <typename Member>
void DecodeAt(void* member, detail::Cursor& cursor) {
  detail::DecodeMember(*static_cast<Member*>(member), cursor);
}

template <typename Member>
void EncodeAt(const void* pointer, std::string_view name, detail::Encoder& encoder) {
  const auto& member = *static_cast<const Member*>(pointer);
  if (detail::IsOmitted(member)) return;
  encoder.WriteKey(name);
  detail::EncodeMember(member, encoder);
}

template <typename Struct>
void EncodeStructAt(const void* member, std::string_view name, detail::Encoder& encoder) {
  std::string text;
  detail::Encoder struct_encoder{text};
  detail::EncodeFields(struct_encoder, member, KoppFields(static_cast<const Struct*>(member)));
  if (text == "{}") return;
  encoder.WriteKey(name);
  encoder.WriteRaw(text);
}

template <typename Member>
constexpr detail::Field FieldAt(std::string_view name, std::size_t offset) {
  return {name, DecodeAt<Member>, EncodeAt<Member>, offset};
}

template <typename Struct>
constexpr detail::Field StructAt(std::string_view name, std::size_t offset) {
  return {name, DecodeAt<Struct>, EncodeStructAt<Struct>, offset};
}

}  // namespace kopp::k8s
