#pragma once

#include "transport/transport_context.hpp"

#include <memory>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// Returns a transport that makes calls with cpprestsdk. It uses `BeastTransport` for everything
/// that cpprestsdk does not support: streams and IPv6 addresses. Throws ConfigError if kopp was
/// built with KOPP_WITH_CPPREST=OFF.
[[nodiscard]] std::unique_ptr<Transport> MakeCpprestTransport(
    std::shared_ptr<TransportContext> context);

}  // namespace kopp::detail
