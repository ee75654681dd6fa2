#pragma once

#include "base/openssl.hpp"

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>

// Functions that create certificates with P-256 keys, which are fast to create, and functions that
// read certificates. They throw std::runtime_error if OpenSSL fails.
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

/// How long before its creation a certificate is valid, for clients whose clock is slow.
inline constexpr std::chrono::seconds kClockTolerance = std::chrono::hours(1);

[[nodiscard]] Key NewKey();

/// Returns a certificate for `key` without subject, extensions and signature. It is valid from
/// kClockTolerance before `now` until `lifetime` after `now`.
[[nodiscard]] Certificate DraftCertificate(EVP_PKEY* key, std::chrono::seconds lifetime,
                                           WallTime now = Clock::Real().WallNow());

/// Adds `value` to the subject of `draft`. `field` is "CN" or "O".
void AddToSubject(X509* draft, const char* field, const std::string& value);

/// Adds `extensions` to `draft` and signs it with `key`, the key of `issuer`. A self-signed
/// certificate is its own issuer.
void SignCertificate(X509* draft, X509* issuer, EVP_PKEY* key,
                     const CertificateExtensions& extensions);

/// Returns a new CA that may issue server certificates, but no further CAs.
[[nodiscard]] CertificateAndKey NewAuthority(const std::string& common_name,
                                             std::chrono::seconds lifetime, WallTime now);

/// Returns a new server certificate for the DNS names `hosts`, at least one, that `authority` with
/// its key `authority_key` has issued.
[[nodiscard]] CertificateAndKey IssueForHosts(const std::vector<std::string>& hosts,
                                              X509* authority, EVP_PKEY* authority_key,
                                              std::chrono::seconds lifetime, WallTime now);

/// Returns whether `key` is the private key of `certificate`. `key` may be null.
[[nodiscard]] bool IsKeyOf(const X509* certificate, const Key& key);
/// Returns whether the CA `authority` has signed `certificate`.
[[nodiscard]] bool IsSignedBy(X509* certificate, X509* authority);
/// Returns whether IssueForHosts can use this CA: it may sign certificates, and has a key of an
/// elliptic curve.
[[nodiscard]] bool MayIssue(X509* authority);

[[nodiscard]] std::string ToPem(X509* certificate);
[[nodiscard]] std::string ToPem(EVP_PKEY* key);

/// Returns the certificates in `pem`; empty: none. Throws ConfigError if one cannot be read.
[[nodiscard]] std::vector<Certificate> ReadCertificates(std::string_view pem);
/// Returns the private key in `pem`. Throws ConfigError if it cannot be read.
[[nodiscard]] Key ReadKey(std::string_view pem);

/// The first and the last time at which a certificate is valid.
struct CertificateValidity {
  WallTime begin{};
  WallTime end{};
};
[[nodiscard]] CertificateValidity ValidityOf(const X509* certificate);

/// Returns why a client that trusts only `authorities` rejects a server with the certificate
/// `chain` (the leaf first, not empty) at `now`, under one of the names `hosts`; "" if it accepts
/// all of them.
[[nodiscard]] std::string WhyRejected(const std::vector<Certificate>& chain,
                                      const std::vector<Certificate>& authorities,
                                      const std::vector<std::string>& hosts, WallTime now);

/// Returns a self-signed certificate for localhost and the loopback addresses. It encrypts, but a
/// client has no way to verify it.
[[nodiscard]] ServerCertificate SelfSignedCertificate();
}  // namespace kopp::detail
