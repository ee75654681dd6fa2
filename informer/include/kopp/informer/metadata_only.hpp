#pragma once

#include <span>
#include <type_traits>

#include <kopp/informer/object.hpp>

namespace kopp {

/// A view of an object's metadata, for objects of the kind of `T`. A cache requests only metadata
/// from the API server for it, so a list or a watch transfers and decodes a fraction of the bytes.
/// Use it wherever a view is used, if spec and status do not matter:
///
///     cache.InformerFor<kopp::MetadataOnly<kopp::Secret>>();
///     context.cache.Get<kopp::MetadataOnly<kopp::Secret>>(key);
///
/// ControllerBuilder::Owns uses it, unless Cached() follows.
/// controller-runtime: builder.OnlyMetadata.
template <ApiObject T>
struct MetadataOnly {
  static constexpr Kind kKind = T::kKind;
  static constexpr bool kIsView = true;
  decltype(T::metadata) metadata = {};
};

/// The metadata of an object whose kind is only known at run time:
/// metav1.PartialObjectMetadata.
struct PartialObjectMetadata {
  ObjectMeta metadata = {};
};
KOPP_DECLARE_FIELDS(PartialObjectMetadata)

/// The field list of MetadataOnly; KOPP_FIELDS does not support templates.
template <ApiObject T>
std::span<const detail::Field> KoppFields(const MetadataOnly<T>*) {
  static constexpr detail::Field kFields[] = {
      detail::MakeField<MetadataOnly<T>, &MetadataOnly<T>::metadata>("metadata")};
  return kFields;
}

namespace detail {
/// The two views that a cache may have of the objects of `T`.
template <typename T>
struct ViewsOf {
  using Complete = T;
  using Metadata = MetadataOnly<T>;
};
template <typename T>
struct ViewsOf<MetadataOnly<T>> : ViewsOf<T> {};

template <typename T>
constexpr bool kIsMetadataOnly = std::is_same_v<T, typename ViewsOf<T>::Metadata>;
}  // namespace detail

}  // namespace kopp
