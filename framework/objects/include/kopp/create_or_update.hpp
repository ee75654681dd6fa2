#pragma once

#include <concepts>
#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <kopp/client.hpp>

namespace kopp {

/// The outcome of CreateOrUpdate or CreateOrPatch.
enum class OperationResult {
  kUnchanged,  ///< the object had the desired state; nothing was written
  kCreated,
  kUpdated,
};

/// The result of CreateOrUpdate and CreateOrPatch.
template <typename T>
struct OperationOutcome {
  OperationResult result = OperationResult::kUnchanged;
  T object = {};  ///< as the API server has stored it
};

/// Sets the desired state in a whole object, given as JSON. A new object has only apiVersion, kind,
/// name and namespace.
using Mutate = std::function<void(nlohmann::json& object)>;

/// Reads the object, calls `mutate`, and writes the object only if `mutate` has changed it: with
/// POST if it does not exist, otherwise with PUT.
///
///     CreateOrUpdate<ConfigMap>(client, {"shop", "settings"}, [](nlohmann::json& object) {
///       object["data"]["color"] = "blue";
///     });
///
/// Set single fields. If `mutate` replaces a part of the object that the API server completes with
/// defaults, the object differs each time and is written each time. Changes of `status` are ignored
/// by the API server for most kinds: use ApplyStatus.
///
/// Takes over an object of others if `mutate` does: SetControllerReference throws only if the
/// object has another controller, as in Go. Throw in `mutate` if an object that has a uid is not
/// yours.
///
/// Throws what Client throws. If another client changes, deletes or creates the object meanwhile,
/// that is an ApiError with IsConflict(), IsNotFound() or IsAlreadyExists(); it is not retried,
/// because a reconciler lets it escape and the queue retries. Throws std::invalid_argument if
/// `mutate` changes the name or the namespace, or if options.subresource is set, because whole
/// objects are written. Exceptions of `mutate` pass through.
///
/// A server-side apply (Client::Apply) needs one request instead of two and causes no conflicts.
/// Use these functions if the desired state depends on the current one. Go: controllerutil of
/// controller-runtime.
OperationOutcome<nlohmann::json> CreateOrUpdate(const Client& client, const Kind& kind,
                                                const ObjectKey& key, const Mutate& mutate,
                                                const WriteOptions& options = {});

/// Same as CreateOrUpdate, but writes an existing object with a merge patch of the changed fields.
/// Concurrent changes of other fields are kept and cause no conflict; a changed list is replaced as
/// a whole.
OperationOutcome<nlohmann::json> CreateOrPatch(const Client& client, const Kind& kind,
                                               const ObjectKey& key, const Mutate& mutate,
                                               const WriteOptions& options = {});

namespace detail {

template <ApiObject T>
OperationOutcome<T> ViewOf(const auto& outcome) {
  OperationOutcome<T> view{outcome.result};
  FromJson(outcome.object, &view.object, KoppFields(&view.object));
  return view;
}

/// Carries a change of a struct, encoded before and after it, over to the whole object. Fields that
/// the struct does not have are kept, also in the items of lists: an item is found by its value, or
/// by its name, key, type or another field that identifies it, or by its position if it has none
/// and the length of the list is the same. An item whose name was changed is a new one. Throws
/// std::logic_error if the struct cannot tell which of several items was removed or changed, and
/// they have fields that it lacks.
void MergeChange(nlohmann::json& whole, const std::string& before, const std::string& after);

/// A function that changes an object as a struct, not as JSON.
template <typename F, typename T>
concept TypedMutate = !std::invocable<F&, nlohmann::json&> && std::invocable<F&, T&>;

template <ApiObject T>
Mutate MutateAs(auto& mutate) {
  return [&mutate](nlohmann::json& whole) {
    T object{};
    FromJson(whole, &object, KoppFields(&object));
    const std::string before = Encode(object);
    mutate(object);
    MergeChange(whole, before, Encode(object));
  };
}

}  // namespace detail

/// CreateOrUpdate for the kind of the view `T`. Returns the stored object as a view.
template <ApiObject T>
OperationOutcome<T> CreateOrUpdate(const Client& client, const ObjectKey& key, const Mutate& mutate,
                                   const WriteOptions& options = {}) {
  return detail::ViewOf<T>(CreateOrUpdate(client, T::kKind, key, mutate, options));
}

/// CreateOrPatch for the kind of the view `T`. Returns the stored object as a view.
template <ApiObject T>
OperationOutcome<T> CreateOrPatch(const Client& client, const ObjectKey& key, const Mutate& mutate,
                                  const WriteOptions& options = {}) {
  return detail::ViewOf<T>(CreateOrPatch(client, T::kKind, key, mutate, options));
}

/// CreateOrUpdate with a function that changes the object as a struct:
///
///     CreateOrUpdate<Deployment>(client, key, [](Deployment& object) { object.spec.replicas = 3;
///     });
///
/// Fields of the object that the struct does not have are kept.
template <ApiObject T, detail::TypedMutate<T> F>
OperationOutcome<T> CreateOrUpdate(const Client& client, const ObjectKey& key, F mutate,
                                   const WriteOptions& options = {}) {
  return CreateOrUpdate<T>(client, key, detail::MutateAs<T>(mutate), options);
}

/// CreateOrPatch with a function that changes the object as a struct. Fields of the object that the
/// struct does not have are kept.
template <ApiObject T, detail::TypedMutate<T> F>
OperationOutcome<T> CreateOrPatch(const Client& client, const ObjectKey& key, F mutate,
                                  const WriteOptions& options = {}) {
  return CreateOrPatch<T>(client, key, detail::MutateAs<T>(mutate), options);
}

}  // namespace kopp
