#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/client.hpp>
#include <kopp/reconcile.hpp>

namespace kopp {

// A finalizer delays the deletion of an object until a controller has removed what belongs to the
// object outside of the cluster. Most operators need only WithFinalizer. Name a finalizer
// "<API group>/<name>".

/// Returns whether the object has the finalizer.
[[nodiscard]] bool HasFinalizer(const ObjectMeta& metadata, std::string_view name);
/// The same for a whole object as JSON.
[[nodiscard]] bool HasFinalizer(const nlohmann::json& object, std::string_view name);

/// Adds the finalizer at the API server, unless `metadata` has it. Returns whether it was added.
/// `metadata` identifies the object; if the function wrote, it is set to what the server has
/// stored.
///
/// The request is a JSON patch that tests the uid and the finalizers, so it never removes a
/// finalizer that another program has added meanwhile. If the object was changed in this way, or
/// `metadata` comes from a cache that is behind, the function reads the object and tries again, up
/// to four times. Throws what Client throws. That includes ApiError if the object does not exist or
/// is being deleted: the API server rejects new finalizers then. Blocks for each request.
bool AddFinalizer(const Client& client, const Kind& kind, ObjectMeta& metadata,
                  std::string_view name);
/// Removes the finalizer in the same way. Returns whether it was removed: false if the object does
/// not have it, does not exist any more, or was created again with another uid.
bool RemoveFinalizer(const Client& client, const Kind& kind, ObjectMeta& metadata,
                     std::string_view name);

/// AddFinalizer for the kind of the view `T`. Does not change `object`.
template <Object T>
bool AddFinalizer(const Client& client, const T& object, std::string_view name) {
  ObjectMeta metadata = object.metadata;
  return AddFinalizer(client, T::kKind, metadata, name);
}
/// RemoveFinalizer for the kind of the view `T`. Does not change `object`.
template <Object T>
bool RemoveFinalizer(const Client& client, const T& object, std::string_view name) {
  ObjectMeta metadata = object.metadata;
  return RemoveFinalizer(client, T::kKind, metadata, name);
}

/// Adds the finalizer to a whole object as JSON, for example in CreateOrUpdate. Returns whether the
/// object has changed. Sends no request.
bool AddFinalizer(nlohmann::json& object, std::string_view name);
/// Removes the finalizer in the same way.
bool RemoveFinalizer(nlohmann::json& object, std::string_view name);

/// A finalizer and its cleanup.
template <Object T>
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
template <Object T, typename Apply>
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
template <Object T, typename Apply, typename Cleanup>
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
