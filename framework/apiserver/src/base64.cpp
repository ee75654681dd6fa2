#include "base64.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include <openssl/evp.h>

namespace kopp::apiserver {
namespace {

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string Encoded(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), Bytes(bytes),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::string EncodedForUrl(std::string_view bytes) {
  std::string text = Encoded(bytes);
  text.erase(std::find(text.begin(), text.end(), '='), text.end());
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::string DecodedFromUrl(std::string_view text) {
  const auto bad =
      text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
  if (bad != std::string_view::npos || text.size() % 4 == 1) {
    throw std::invalid_argument(
        "illegal base64 data at input byte " +
        std::to_string(bad == std::string_view::npos ? text.size() - 1 : bad));
  }
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '-', '+');
  std::replace(plain.begin(), plain.end(), '_', '/');
  const std::size_t padding = (4 - plain.size() % 4) % 4;
  plain.append(padding, '=');
  std::string bytes(plain.size() / 4 * 3 + 1, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), Bytes(plain),
                                   static_cast<int>(plain.size()));
  bytes.resize(static_cast<std::size_t>(std::max(size, 0)) - (size > 0 ? padding : 0));
  return bytes;
}

}  // namespace kopp::apiserver
