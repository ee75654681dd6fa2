#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kopp::detail {

/// Where a server of ours listens.
struct BindAddress {
  std::string host;  ///< a name or an address, IPv6 without its brackets; empty: all addresses
  std::uint16_t port = 0;
};

/// Reads ":8080", "127.0.0.1:8080", "[::1]:8080" or "localhost:8080". nullopt for anything else.
[[nodiscard]] std::optional<BindAddress> ParseBindAddress(std::string_view text);

/// For messages about what ParseBindAddress refuses.
inline constexpr const char* kWriteBindAddress =
    "write :8080 for all addresses, or 127.0.0.1:8080 or [::1]:8080 for one";

}  // namespace kopp::detail
