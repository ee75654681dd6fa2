#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kopp::detail {

/// An address for a server to listen on.
struct BindAddress {
  std::string host;  ///< a name or an IP address, IPv6 without brackets; empty: all addresses
  std::uint16_t port = 0;
};

/// Parses ":8080", "127.0.0.1:8080", "[::1]:8080" or "localhost:8080". Returns nullopt for any
/// other text.
[[nodiscard]] std::optional<BindAddress> ParseBindAddress(std::string_view text);

/// The remedy in error messages about an address that ParseBindAddress rejects.
inline constexpr const char* kBindAddressHelp =
    "write :8080 for all addresses, or 127.0.0.1:8080 or [::1]:8080 for one";

}  // namespace kopp::detail
