#include "json/base64.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <stdexcept>

#include <openssl/evp.h>

namespace kopp::apiserver {
namespace {

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string Base64Encode(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), Bytes(bytes),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::string Base64Decode(std::string_view text) {
  std::string bytes(text.size() / 4 * 3 + 1, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), Bytes(text),
                                   static_cast<int>(text.size()));
  if (size < 0) throw std::invalid_argument("illegal base64 data");
  const auto padding = static_cast<std::size_t>(
      std::count(text.end() - std::min<std::ptrdiff_t>(std::ssize(text), 2), text.end(), '='));
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

std::string Base64UrlEncode(std::string_view bytes) {
  std::string text = Base64Encode(bytes);
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
  const std::size_t padding = (4 - padded.size() % 4) % 4;
  padded.append(padding, '=');
  std::string bytes(padded.size() / 4 * 3 + 1, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), Bytes(padded),
                                   static_cast<int>(padded.size()));
  bytes.resize(static_cast<std::size_t>(std::max(size, 0)) - (size > 0 ? padding : 0));
  return bytes;
}

}  // namespace kopp::apiserver
