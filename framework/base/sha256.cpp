#include "base/sha256.hpp"

#include <stdexcept>

#include <openssl/evp.h>

namespace kopp::detail {

std::string Sha256(std::string_view text) {
  std::string hash(static_cast<std::size_t>(EVP_MD_size(EVP_sha256())), '\0');
  if (EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(hash.data()), nullptr,
                 EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("cannot compute a SHA-256 hash: an OpenSSL call failed");
  }
  return hash;
}

}  // namespace kopp::detail
