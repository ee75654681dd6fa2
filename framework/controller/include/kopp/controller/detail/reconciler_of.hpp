#pragma once

#include <type_traits>
#include <utility>

#include <kopp/cache.hpp>
#include <kopp/detail/watched_view.hpp>
#include <kopp/informer/any_object.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/informer/unstructured.hpp>
#include <kopp/reconcile.hpp>

namespace kopp {

namespace detail {
/// Reads of the kind of a controller. They are no reads of the program; see ReadViews.
struct PrimaryRead {
  template <ApiObject T>
  static informer::AnyObject Get(const Cache& cache, const ObjectKey& key,
                                 const ReadOptions& read = {}) {
    return cache.GetAny(WatchedViewRef::Of<T>(), key, read);
  }
};
}  // namespace detail

/// Converts a function to a Reconciler. ControllerBuilder::Reconcile documents the two signatures.
template <ApiObject T, typename F>
[[nodiscard]] Reconciler ReconcilerOf(F reconcile) {
  if constexpr (std::is_invocable_r_v<Result, F&, const ObjectKey&, Context&>) {
    return reconcile;
  } else {
    static_assert(
        std::is_invocable_r_v<Result, F&, const T&, Context&>,
        "Reconcile: the function must be Result(const T&, Context&), where T is the type of "
        "AddController<T>, or Result(const ObjectKey&, Context&)");
    return [reconcile = std::move(reconcile)](const ObjectKey& key, Context& context) -> Result {
      const auto object = detail::PrimaryRead::Get<T>(context.cache, key).template As<T>();
      return object ? reconcile(*object, context) : Result{};
    };
  }
}

/// The same for the objects of `kind`, which is only known at run time.
template <typename F>
[[nodiscard]] Reconciler ReconcilerOf(const OwningKind& kind, F reconcile) {
  if constexpr (std::is_invocable_r_v<Result, F&, const ObjectKey&, Context&>) {
    return reconcile;
  } else {
    static_assert(std::is_invocable_r_v<Result, F&, const Unstructured&, Context&>,
                  "Reconcile: the function must be Result(const Unstructured&, Context&) or "
                  "Result(const ObjectKey&, Context&)");
    return
        [kind, reconcile = std::move(reconcile)](const ObjectKey& key, Context& context) -> Result {
          const auto object = context.cache.Get(kind, key);
          return object ? reconcile(*object, context) : Result{};
        };
  }
}

}  // namespace kopp
