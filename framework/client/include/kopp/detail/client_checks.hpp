#pragma once

#include <type_traits>

#include <kopp/k8s/view.hpp>

// Explanations of calls of Client that do not compile.

namespace kopp::detail {

/// Whether `T` has a member `status` to which a `Status` converts.
template <typename Status, typename T>
constexpr bool kIsStatusOf =
    requires { requires std::is_convertible_v<Status, decltype(T::status)>; };

/// Does not compile if `Status` is not the status of `T`.
template <typename Status, typename T>
constexpr void RequireStatusOf() {
  static_assert(kIsStatusOf<Status, T>,
                "ApplyStatus: the second argument must have the type of the member `status` of the "
                "object, for example {.ready = true}");
}

/// Does not compile if `T` is a view.
template <typename T>
constexpr void RequireAllFields() {
  static_assert(!IsView<T>(),
                "this struct is a view, which lists only some fields of its kind: write the "
                "complete type, such as kopp::Pod, or use Patch or ApplyStatus");
}

}  // namespace kopp::detail
