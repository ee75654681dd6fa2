#pragma once

#include <string>
#include <string_view>

namespace kopp::schema {

/// Returns whether `name` ("date-time", "ipv4") is a string format that kube-apiserver validates.
/// kube-apiserver ignores other formats, and hyphens in the name.
[[nodiscard]] bool IsKnownFormat(std::string_view name);

/// Returns whether `text` is valid in the given format. `format` must be a known format.
[[nodiscard]] bool MatchesFormat(const std::string& text, std::string_view format);

/// Returns the text of an IP address without the leading zeros of its numbers, which kube-apiserver
/// ignores.
[[nodiscard]] std::string WithoutLeadingZeros(std::string_view address);

}  // namespace kopp::schema
