#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <kopp/client.hpp>

namespace kopp {

// A finalizer delays the deletion of an object until a controller has removed what belongs to the
// object outside of the cluster. Most operators need only WithFinalizer of
// <kopp/controller/with_finalizer.hpp>. Name a finalizer "<API group>/<name>".

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
template <ApiObject T>
bool AddFinalizer(const Client& client, const T& object, std::string_view name) {
  ObjectMeta metadata = object.metadata;
  return AddFinalizer(client, T::kKind, metadata, name);
}
/// RemoveFinalizer for the kind of the view `T`. Does not change `object`.
template <ApiObject T>
bool RemoveFinalizer(const Client& client, const T& object, std::string_view name) {
  ObjectMeta metadata = object.metadata;
  return RemoveFinalizer(client, T::kKind, metadata, name);
}

/// Adds the finalizer to a whole object as JSON, for example in CreateOrUpdate. Returns whether the
/// object has changed. Sends no request.
bool AddFinalizer(nlohmann::json& object, std::string_view name);
/// Removes the finalizer in the same way.
bool RemoveFinalizer(nlohmann::json& object, std::string_view name);

}  // namespace kopp
