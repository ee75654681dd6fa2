#include "base/base64.hpp"

#include <algorithm>
#include <cstddef>

#include <openssl/evp.h>

namespace kopp::detail {

std::string EncodeBase64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL adds a terminating null
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  const std::size_t digit_count = std::min(text.find('='), text.size());
  const std::size_t padding = text.size() - digit_count;
  std::string bytes(text.size() / 4 * 3, '\0');
  // EVP_DecodeBlock decodes '=' as zero at any position, and takes '-' for the end of the data.
  // Reject both first.
  const bool well_formed = text.size() % 4 == 0 && padding <= 2 &&
                           text.find_first_not_of('=', digit_count) == std::string_view::npos &&
                           text.find('-') == std::string_view::npos;
  if (!well_formed ||
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size())) != static_cast<int>(bytes.size())) {
    return std::nullopt;
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace kopp::detail
