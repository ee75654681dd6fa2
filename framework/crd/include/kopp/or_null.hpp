#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <kopp/informer/fields.hpp>
#include <kopp/markers/marker_checks.hpp>

namespace kopp {

/// A member for a field that is required and nullable: without a value, it is written as null.
/// A std::optional without a value is omitted, and the API server rejects the object.
///
///     kopp::OrNull<std::int64_t> retentionDays = {};
///
/// In a struct with KOPP_CRD, the field needs the marker Nullable(). `kopp gen types` uses the type
/// for the fields that need it.
template <typename T>
struct OrNull : std::optional<T> {
  using std::optional<T>::optional;
};

namespace detail {

/// Decodes the text of one value with the only field of `fields`. `error.what()` starts with the
/// path below that field.
void DecodeValue(std::string_view json, void* object, Fields fields);

template <typename T>
struct OrNullHolder {
  std::optional<T> value;
};

template <typename T>
struct MarkedTypeOf<OrNull<T>> : MarkedTypeOf<T> {};

}  // namespace detail

template <typename T>
void KoppDecode(std::string_view json, OrNull<T>& value) {
  using Holder = detail::OrNullHolder<T>;
  static constexpr detail::Field kFields[] = {detail::MakeField<Holder, &Holder::value>("value")};
  Holder holder;
  detail::DecodeValue(json, &holder, kFields);
  static_cast<std::optional<T>&>(value) = std::move(holder.value);
}

template <typename T>
[[nodiscard]] std::string KoppEncode(const OrNull<T>& value) {
  std::string text;
  detail::Encoder encoder{text};
  detail::EncodeMember(static_cast<const std::optional<T>&>(value), encoder);
  return text;
}

template <typename T>
[[nodiscard]] bool KoppIsEmpty(const OrNull<T>& /*value*/) {
  return false;
}

}  // namespace kopp
