#pragma once

#include "transport_context.hpp"

#include <memory>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// Returns a transport that makes calls with cpprestsdk. It uses `BeastTransport` for everything
/// that cpprestsdk does not support: streams and IPv6 addresses.
using CpprestFactory = std::unique_ptr<Transport> (*)(std::shared_ptr<TransportContext> context);

/// Set before main starts in a program that links kopp::cpprest; null in other programs.
extern constinit CpprestFactory cpprest_factory;

}  // namespace kopp::detail
