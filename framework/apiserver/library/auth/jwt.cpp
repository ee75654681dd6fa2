#include "auth/jwt.hpp"

#include "json/base64.hpp"

#include <array>
#include <stdexcept>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

std::string Signature(std::string_view text, std::string_view key) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes.data(),
           &size) == nullptr) {
    throw std::runtime_error("cannot sign a token: OpenSSL has no SHA-256");
  }
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

}  // namespace

std::string SignJwt(const json& claims, std::string_view key) {
  const json header{{"alg", "HS256"}, {"typ", "JWT"}};
  const std::string text = Base64UrlEncode(header.dump()) + '.' + Base64UrlEncode(claims.dump());
  return text + '.' + Base64UrlEncode(Signature(text, key));
}

std::optional<json> VerifyJwt(std::string_view token, std::string_view key) {
  const std::size_t claims_begin = token.find('.') + 1;
  const std::size_t signature_begin = token.rfind('.') + 1;
  if (claims_begin == 0 || signature_begin <= claims_begin) return std::nullopt;
  const std::string expected =
      Base64UrlEncode(Signature(token.substr(0, signature_begin - 1), key));
  const std::string_view signature = token.substr(signature_begin);
  if (signature.size() != expected.size() ||
      CRYPTO_memcmp(signature.data(), expected.data(), expected.size()) != 0) {
    return std::nullopt;
  }
  return json::parse(
      Base64UrlDecode(token.substr(claims_begin, signature_begin - 1 - claims_begin)));
}

}  // namespace kopp::apiserver
