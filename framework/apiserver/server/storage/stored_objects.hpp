#pragma once

#include "api/resource.hpp"
#include "storage/store.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Writes an object to the store, in its storage version and under the condition of Store::Put.
/// Sets metadata.resourceVersion in `object`. Returns false without a write if the stored state is
/// not `expected`.
[[nodiscard]] bool PutObject(Store& store, const Resource& resource, const ObjectKey& key,
                             const StoredObjectPtr& expected, nlohmann::json& object);

/// Returns {"status": …} with the status of an object for which nobody has set it; {} if the kind
/// omits the status then.
[[nodiscard]] nlohmann::json EmptyStatus(const Resource& resource);

/// Returns whether a terminating object has no finalizers and no grace period left, so that it must
/// be removed from the store. Namespaces have finalizers in spec, too.
[[nodiscard]] bool IsReadyForRemoval(const Resource& resource, const nlohmann::json& object);

/// Returns the Status with status "Success" that a deletion responds with.
[[nodiscard]] nlohmann::json SuccessStatus(const Resource& resource, const std::string& name,
                                           const std::string& uid);

}  // namespace kopp::apiserver
