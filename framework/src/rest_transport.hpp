#pragma once

#include "server.hpp"

#include <memory>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// Calls by cpprestsdk; what it cannot carry (streams, IPv6) goes by `BeastTransport`.
[[nodiscard]] std::unique_ptr<Transport> MakeRestTransport(std::shared_ptr<Server> server);

}  // namespace kopp::detail
