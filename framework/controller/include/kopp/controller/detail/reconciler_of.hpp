#pragma once

#include <type_traits>
#include <utility>

#include <kopp/cache.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/informer/unstructured.hpp>
#include <kopp/reconcile.hpp>

namespace kopp {

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
      const auto object = context.cache.Get<T>(key);
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
