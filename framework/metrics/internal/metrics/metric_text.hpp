#pragma once

#include <string>

namespace kopp {

/// Replaces bytes that are not UTF-8 by U+FFFD, because Prometheus would reject the whole scrape.
[[nodiscard]] std::string ToUtf8(const std::string& text);

}  // namespace kopp
