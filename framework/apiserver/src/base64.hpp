#pragma once

#include <string>
#include <string_view>

namespace kopp::apiserver {

/// As everybody reads it.
[[nodiscard]] std::string Encoded(std::string_view bytes);

/// Base64 for addresses: with '-' and '_', and without padding.
[[nodiscard]] std::string EncodedForUrl(std::string_view bytes);

/// The reverse. Throws std::invalid_argument, in the words of the real server.
[[nodiscard]] std::string DecodedFromUrl(std::string_view text);

}  // namespace kopp::apiserver
