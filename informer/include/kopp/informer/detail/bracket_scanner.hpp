#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kopp::detail {

/// Finds the brackets of JSON text that are not inside a string. Scans 64 bytes at a time. The text
/// arrives in chunks of any size. Not thread-safe.
class BracketScanner {
 public:
  /// Continues with the next chunk, which must stay valid until Next has returned its size. Call it
  /// only then.
  void Start(std::string_view chunk) {
    chunk_ = chunk;
    next_block_ = 0;
  }

  /// Returns the index of the next bracket in the chunk, or the size of the chunk if there is none.
  std::size_t Next() {
    while (brackets_ == 0) {
      if (next_block_ == chunk_.size()) return chunk_.size();
      ScanBlock();
    }
    const auto index = block_ + static_cast<std::size_t>(std::countr_zero(brackets_));
    brackets_ &= brackets_ - 1;  // clears the lowest bit
    return index;
  }

 private:
  void ScanBlock();

  std::string_view chunk_;
  std::size_t block_ = 0;       // index in the chunk of the current block
  std::size_t next_block_ = 0;  // index in the chunk of the first byte that is not scanned yet
  std::uint64_t brackets_ = 0;  // bit i: byte i of the block is a bracket and not returned yet
  bool in_string_ = false;      // the scanned text ends inside a string
  bool escaped_ = false;        // the scanned text ends with a backslash that escapes the next byte
};

}  // namespace kopp::detail
