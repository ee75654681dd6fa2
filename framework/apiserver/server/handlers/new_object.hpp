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

/// Sets the fields of a new object that the server assigns, such as its name and uid, and applies
/// defaults. Throws StatusError if its namespace does not exist or is being deleted, or if the
/// definition of its kind is being deleted.
[[nodiscard]] NewObject PrepareNewObject(ServerContext& context, const WriteRequest& write,
                                         nlohmann::json& object, Warnings& warnings);

}  // namespace kopp::apiserver
