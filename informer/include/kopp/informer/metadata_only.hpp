#pragma once

#include <span>

#include <kopp/informer/object.hpp>

namespace kopp {

/// A view of an object's metadata, for objects of the kind of the view `T`. A cache requests only
/// metadata from the API server for it, so a list or a watch transfers and decodes a fraction of
/// the bytes. Use it wherever a view is used, if spec and status do not matter:
///
///     manager.AddController<Foo>().Owns<kopp::MetadataOnly<kopp::Secret>>().Reconcile(Reconcile);
///     context.cache.Get<kopp::MetadataOnly<kopp::Secret>>(key);
///
/// controller-runtime: builder.OnlyMetadata.
template <Object T>
struct MetadataOnly {
  static constexpr Kind kKind = T::kKind;
  decltype(T::metadata) metadata = {};
};

/// The metadata of an object whose kind is only known at run time:
/// metav1.PartialObjectMetadata.
struct PartialObjectMetadata {
  ObjectMeta metadata = {};
};
KOPP_DECLARE_FIELDS(PartialObjectMetadata)

/// The field list of MetadataOnly; KOPP_FIELDS does not support templates.
template <Object T>
std::span<const detail::Field> KoppFields(const MetadataOnly<T>*) {
  static constexpr detail::Field kFields[] = {
      detail::MakeField<MetadataOnly<T>, &MetadataOnly<T>::metadata>("metadata")};
  return kFields;
}

namespace detail {
template <typename T>
constexpr bool kIsMetadataOnly = false;
template <typename T>
constexpr bool kIsMetadataOnly<MetadataOnly<T>> = true;
}  // namespace detail

}  // namespace kopp
