#pragma once

#include <algorithm>

#include <kopp/informer/object.hpp>
#include <kopp/k8s/typed_kinds.hpp>

namespace kopp {

/// Returns whether `T` is a view: a struct that has only some fields of its kind. A view is for
/// reading. Client::Create, Apply and Replace do not compile with a view, because they could remove
/// or overwrite the fields that it does not have.
///
/// A struct is a view if kopp::k8s has another struct for its kind, such as kopp::Pod for Pods.
/// Any other struct has all fields of its kind. A constant in the struct overrides this:
///
///     struct Certificate {
///       static constexpr kopp::Kind kKind{"cert-manager.io/v1", "Certificate", "certificates"};
///       static constexpr bool kIsView = true;  // cert-manager defines more fields
///       kopp::ObjectMeta metadata;
///     };
template <ApiObject T>
[[nodiscard]] constexpr bool IsView() {
  if constexpr (requires { T::kIsView; }) {
    return T::kIsView;
  } else {
    const Kind& kind = T::kKind;
    return !k8s::kIsTypedKind<T> && std::ranges::any_of(k8s::kTypedKinds, [&](const Kind& typed) {
      return typed.kind == kind.kind && typed.api_version == kind.api_version;
    });
  }
}

}  // namespace kopp
