#pragma once

#include <string>
#include <string_view>

namespace kopp::apiserver {

/// Whether `name` ("date-time", "ipv4") is a string format that kube-apiserver validates. It
/// ignores all other formats.
[[nodiscard]] bool IsKnownFormat(std::string_view name);

/// Whether `text` is valid in the given format. `format` must be a known format.
[[nodiscard]] bool MatchesFormat(const std::string& text, std::string_view format);

}  // namespace kopp::apiserver
