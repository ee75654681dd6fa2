#pragma once

#include "api/response.hpp"
#include "api/write_request.hpp"
#include "storage/server_context.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// The state of a create before its object is stored.
struct NewObject {
  ObjectKey key{};
  StoredObjectPtr ns{};        ///< its namespace; nullptr for a cluster-scoped resource
  std::string sent_version{};  ///< metadata.resourceVersion in the request
};

/// Returns the stored namespace of a new object; nullptr for a cluster-scoped resource. Throws
/// StatusError if the namespace does not exist or is being deleted, or if the definition of the
/// kind is being deleted.
[[nodiscard]] StoredObjectPtr RequireActiveNamespace(ServerContext& context,
                                                     const WriteRequest& write,
                                                     const nlohmann::json& object);

/// Sets the fields of a new object in the namespace `ns` that the server assigns, such as its name
/// and uid, and applies defaults.
[[nodiscard]] NewObject PrepareNewObject(ServerContext& context, const WriteRequest& write,
                                         StoredObjectPtr ns, nlohmann::json& object,
                                         Warnings& warnings);

}  // namespace kopp::apiserver
