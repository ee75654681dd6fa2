#pragma once

#include "base/openssl.hpp"

#include <chrono>
#include <initializer_list>
#include <string>
#include <utility>

// Functions that create certificates with P-256 keys, which are fast to create. They throw
// std::runtime_error if OpenSSL fails.
namespace kopp::detail {

/// A certificate chain and its private key, both in PEM.
struct ServerCertificate {
  std::string chain{};
  std::string key{};
};

/// A certificate and its private key as OpenSSL objects. Avoids encoding and parsing PEM, which
/// takes a millisecond each.
struct CertificateAndKey {
  Certificate certificate;
  Key key;
};

/// The extensions of a certificate: their OpenSSL type, such as NID_key_usage, and their value in
/// the syntax of OpenSSL's configuration files.
using CertificateExtensions = std::initializer_list<std::pair<int, std::string>>;

[[nodiscard]] Key NewKey();

/// Returns a certificate for `key` without subject, extensions and signature. It is valid from one
/// hour ago, for clients whose clock is slow.
[[nodiscard]] Certificate DraftCertificate(EVP_PKEY* key, std::chrono::seconds lifetime);

/// Adds `value` to the subject of `draft`. `field` is "CN" or "O".
void AddToSubject(X509* draft, const char* field, const std::string& value);

/// Adds `extensions` to `draft` and signs it with `key`, the key of `issuer`. A self-signed
/// certificate is its own issuer.
void SignCertificate(X509* draft, X509* issuer, EVP_PKEY* key,
                     const CertificateExtensions& extensions);

[[nodiscard]] std::string ToPem(X509* certificate);
[[nodiscard]] std::string ToPem(EVP_PKEY* key);

/// Returns a self-signed certificate for localhost and the loopback addresses. It encrypts, but a
/// client has no way to verify it.
[[nodiscard]] ServerCertificate SelfSignedCertificate();

}  // namespace kopp::detail
