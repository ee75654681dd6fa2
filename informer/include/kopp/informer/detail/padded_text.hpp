#pragma once

#include <cstddef>
#include <string_view>

namespace kopp {

/// JSON text that is followed by at least kPadding readable bytes of any content, so that it can be
/// parsed without a copy. Does not own the text.
struct PaddedText {
  static constexpr std::size_t kPadding = 64;
  std::string_view text;
};

}  // namespace kopp
