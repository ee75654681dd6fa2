#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <kopp/informer/fields.hpp>
#include <kopp/k8s/bytes.hpp>

namespace kopp::k8s {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

[[noreturn]] void ThrowNotBase64() {
  throw DecodeError(DecodeError::Kind::kTypeMismatch, "", "the text is not Base64 with padding");
}

}  // namespace

void KoppDecode(std::string_view json, Bytes& value) {
  std::string text = detail::DecodeString(json);
  if (text.size() % 4 != 0) ThrowNotBase64();
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.pop_back();
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) ThrowNotBase64();
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  value.data = std::move(bytes);
}

std::string KoppEncode(const Bytes& value) {
  std::string text = "\"";
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : value.data) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[bits >> (count - 6) & 0x3F];
  }
  if (count > 0) text += kAlphabet[bits << (6 - count) & 0x3F];
  while (text.size() % 4 != 1) text += '=';
  return text + '"';
}

}  // namespace kopp::k8s
