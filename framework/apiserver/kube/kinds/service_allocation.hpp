#pragma once

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

class ServerContext;

/// Sets the addresses, ports and IP families that the client left to the server. Throws StatusError
/// if a requested value cannot be allocated.
void AssignServiceFields(ServerContext& context, const nlohmann::json& before,
                         nlohmann::json& service);

}  // namespace kopp::apiserver
