#pragma once

#include <string>
#include <string_view>

namespace kopp::apiserver {

/// Decodes standard Base64 with padding. Throws std::invalid_argument if `text` is not valid.
[[nodiscard]] std::string Base64Decode(std::string_view text);

/// Encodes `bytes` as URL-safe Base64 ('-' and '_') without padding (RFC 4648).
[[nodiscard]] std::string Base64UrlEncode(std::string_view bytes);

/// Decodes URL-safe Base64 without padding. Throws std::invalid_argument, with the message of Go's
/// base64 package, if `text` is not valid.
[[nodiscard]] std::string Base64UrlDecode(std::string_view text);

}  // namespace kopp::apiserver
