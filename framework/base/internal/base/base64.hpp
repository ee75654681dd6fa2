#pragma once

#include <optional>
#include <string>
#include <string_view>

// Standard Base64 with padding (RFC 4648).

namespace kopp::detail {

[[nodiscard]] std::string EncodeBase64(std::string_view bytes);
/// Returns std::nullopt if `text` is not valid.
[[nodiscard]] std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace kopp::detail
