#include "json/base64.hpp"

#include "base/base64.hpp"

#include <algorithm>
#include <stdexcept>

namespace kopp::apiserver {

std::string Base64Decode(std::string_view text) {
  if (auto bytes = detail::DecodeBase64(text)) return *std::move(bytes);
  throw std::invalid_argument("illegal base64 data");
}

std::string Base64UrlEncode(std::string_view bytes) {
  std::string text = detail::EncodeBase64(bytes);
  text.erase(std::find(text.begin(), text.end(), '='), text.end());
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::string Base64UrlDecode(std::string_view text) {
  const auto bad =
      text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
  if (bad != std::string_view::npos || text.size() % 4 == 1) {
    throw std::invalid_argument(
        "illegal base64 data at input byte " +
        std::to_string(bad == std::string_view::npos ? text.size() - 1 : bad));
  }
  std::string padded(text);
  std::replace(padded.begin(), padded.end(), '-', '+');
  std::replace(padded.begin(), padded.end(), '_', '/');
  padded.append((4 - padded.size() % 4) % 4, '=');
  return Base64Decode(padded);
}

}  // namespace kopp::apiserver
