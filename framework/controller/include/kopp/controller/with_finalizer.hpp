#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <kopp/finalizer.hpp>
#include <kopp/reconcile.hpp>

namespace kopp {

/// A finalizer and its cleanup.
template <ApiObject T>
struct Finalizer {
  std::string name = {};
  /// Removes what belongs to the object. Returns nullopt when nothing is left, or a Result, such as
  /// `{.requeue_after = 10s}`, to be called again later. If it throws, it is called again as after
  /// each failed reconcile.
  std::function<std::optional<Result>(const T& object, Context& context)> cleanup = {};
};

/// Returns a reconcile function that adds the finalizers, and then calls `apply`. For an object
/// that is being deleted, it calls the cleanups of the finalizers that the object still has, one
/// after the other, and removes each finalizer after its cleanup.
///
/// It is safe against a crash at any time: the finalizers are stored by the API server before
/// `apply` is called for the first time, and a finalizer is removed only after its cleanup has
/// succeeded. A cleanup may therefore run twice, and for an object that `apply` was never called
/// for: it must succeed if there is nothing to remove. If only the cleanup knows the names of the
/// outside resources, derive them from the uid of the object, which is never used again.
///
/// Go: finalizer.Finalizers of controller-runtime.
template <ApiObject T, typename Apply>
[[nodiscard]] auto WithFinalizers(std::vector<Finalizer<T>> finalizers, Apply apply) {
  return [finalizers = std::move(finalizers), apply = std::move(apply)](
             const T& object, Context& context) -> Result {
    ObjectMeta metadata = object.metadata;
    if (!metadata.deletionTimestamp) {
      for (const Finalizer<T>& finalizer : finalizers) {
        AddFinalizer(context.client, T::kKind, metadata, finalizer.name);
      }
      return apply(object, context);
    }
    for (const Finalizer<T>& finalizer : finalizers) {
      if (!HasFinalizer(metadata, finalizer.name)) continue;
      if (const auto unfinished = finalizer.cleanup(object, context)) return *unfinished;
      RemoveFinalizer(context.client, T::kKind, metadata, finalizer.name);
    }
    return {};
  };
}

/// WithFinalizers for one finalizer. `cleanup` returns what Finalizer::cleanup returns, or nothing:
/// then nothing is left when it returns. kube-rs: runtime::finalizer.
///
///     manager.AddController<Foo>().Reconcile(kopp::WithFinalizer<Foo>(
///         "example.com/bucket",
///         [](const Foo& foo, kopp::Context& ctx) { …; return kopp::Result{}; },
///         [](const Foo& foo, kopp::Context& ctx) { DeleteBucket(foo.metadata.uid); }));
template <ApiObject T, typename Apply, typename Cleanup>
[[nodiscard]] auto WithFinalizer(const std::string& name, Apply apply, Cleanup cleanup) {
  Finalizer<T> finalizer{.name = name};
  if constexpr (std::is_void_v<std::invoke_result_t<Cleanup&, const T&, Context&>>) {
    finalizer.cleanup = [cleanup = std::move(cleanup)](const T& object,
                                                       Context& context) -> std::optional<Result> {
      cleanup(object, context);
      return std::nullopt;
    };
  } else {
    finalizer.cleanup = std::move(cleanup);
  }
  return WithFinalizers<T>({std::move(finalizer)}, std::move(apply));
}

}  // namespace kopp
