#include <algorithm>
#include <array>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <kopp/informer/detail/bracket_scanner.hpp>

namespace kopp::detail {
namespace {

constexpr std::size_t kBlockSize = 64;

/// The positions of some characters in a block: bit i stands for byte i.
struct CharacterMasks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t brackets = 0;
};

#if defined(__SSE2__)
CharacterMasks FindCharacters(const char* block) {
  CharacterMasks masks;
  for (std::size_t i = 0; i < kBlockSize; i += sizeof(__m128i)) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + i));
    const auto mask_of = [i](__m128i equal) {
      return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(equal))} << i;
    };
    masks.quotes |= mask_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    masks.backslashes |= mask_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    // Bit 5 is the only difference between [ and {, and between ] and }.
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    masks.brackets |= mask_of(_mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')),
                                           _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))));
  }
  return masks;
}
#else
CharacterMasks FindCharacters(const char* block) {
  CharacterMasks masks;
  for (std::size_t i = 0; i < kBlockSize; ++i) {
    const char c = block[i];
    masks.quotes |= std::uint64_t{c == '"'} << i;
    masks.backslashes |= std::uint64_t{c == '\\'} << i;
    masks.brackets |= std::uint64_t{c == '{' || c == '[' || c == '}' || c == ']'} << i;
  }
  return masks;
}
#endif

/// Returns the bytes that a backslash escapes; `first` tells whether byte 0 is one of them.
std::uint64_t FindEscaped(std::uint64_t backslashes, bool first) {
  std::uint64_t escaped = first ? 1 : 0;
  for (; backslashes != 0; backslashes &= backslashes - 1) {
    const std::uint64_t backslash = backslashes & (~backslashes + 1);  // the lowest bit
    if ((escaped & backslash) == 0) escaped |= backslash << 1U;
  }
  return escaped;
}

/// Returns the bytes that follow an odd number of quotes. An opening quote is one of them, a
/// closing quote is not.
std::uint64_t FindQuoted(std::uint64_t quotes) {
  for (unsigned shift = 1; shift < kBlockSize; shift *= 2) quotes ^= quotes << shift;
  return quotes;
}

}  // namespace

void BracketScanner::ScanBlock() {
  block_ = next_block_;
  const std::size_t size = std::min(kBlockSize, chunk_.size() - block_);
  next_block_ += size;
  std::array<char, kBlockSize> last_block{};
  const char* bytes = chunk_.data() + block_;
  if (size < kBlockSize) {
    std::copy_n(bytes, size, last_block.data());
    bytes = last_block.data();
  }
  const CharacterMasks masks = FindCharacters(bytes);
  const std::uint64_t escaped = FindEscaped(masks.backslashes, escaped_);
  const std::uint64_t quoted =
      FindQuoted(masks.quotes & ~escaped) ^ (in_string_ ? ~std::uint64_t{0} : 0);
  brackets_ = masks.brackets & ~quoted;

  // After the end of the text, the block has zeros. They change no state.
  in_string_ = (quoted >> (kBlockSize - 1)) != 0;
  const std::uint64_t escaping = masks.backslashes & ~escaped;
  escaped_ = static_cast<std::size_t>(std::bit_width(escaping)) == size;  // it is the last byte
}

}  // namespace kopp::detail
