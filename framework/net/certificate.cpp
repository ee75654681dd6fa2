#include "net/certificate.hpp"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <memory>
#include <stdexcept>

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <kopp/config_error.hpp>

namespace kopp::detail {
namespace {

// A program that runs longer than its certificate would have to create another one.
constexpr std::chrono::seconds kSelfSignedLifetime = std::chrono::years(10);

void RequireOpenSsl(bool success) {
  if (!success) throw std::runtime_error("cannot create a certificate: an OpenSSL call failed");
}

/// Sets `field`, a time of a certificate.
void SetTime(ASN1_TIME* field, WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  RequireOpenSsl(ASN1_TIME_set(field, std::chrono::system_clock::to_time_t(seconds)) != nullptr);
}

/// Times after 2262, which WallTime does not have, become the last one.
WallTime ToWallTime(const ASN1_TIME* time) {
  std::tm fields{};
  RequireOpenSsl(ASN1_TIME_to_tm(time, &fields) == 1);
  const std::chrono::seconds since_epoch(timegm(&fields));
  const auto last = std::chrono::floor<std::chrono::seconds>(WallTime::max().time_since_epoch());
  return WallTime(std::min(since_epoch, last));
}

/// A positive number of 127 bits, which no other certificate has.
void SetRandomSerial(X509* draft) {
  const std::unique_ptr<BIGNUM, OpenSslDeleter<&BN_free>> serial(BN_new());
  RequireOpenSsl(serial != nullptr &&
                 BN_rand(serial.get(), 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
                 BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(draft)) != nullptr);
}

/// sk_X509_free is a macro. Does not free the certificates.
void FreeStack(STACK_OF(X509) * stack) { sk_X509_free(stack); }

std::string PemText(const Bio& bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace

std::string ToPem(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  RequireOpenSsl(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return PemText(bio);
}

std::string ToPem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  RequireOpenSsl(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) ==
                 1);
  return PemText(bio);
}

Key NewKey() {
  Key key(EVP_EC_gen("P-256"));
  RequireOpenSsl(key != nullptr);
  return key;
}

// V_ASN1_UTF8STRING allows values of any length. MBSTRING_UTF8 would enforce the 64 characters of
// X.509, which names of service accounts exceed and which no server checks.
void AddToSubject(X509* draft, const char* field, const std::string& value) {
  RequireOpenSsl(X509_NAME_add_entry_by_txt(X509_get_subject_name(draft), field, V_ASN1_UTF8STRING,
                                            reinterpret_cast<const unsigned char*>(value.data()),
                                            static_cast<int>(value.size()), -1, 0) == 1);
}

Certificate DraftCertificate(EVP_PKEY* key, std::chrono::seconds lifetime, WallTime now) {
  Certificate draft(X509_new());
  RequireOpenSsl(draft != nullptr);
  X509_set_version(draft.get(), X509_VERSION_3);
  SetRandomSerial(draft.get());
  SetTime(X509_getm_notBefore(draft.get()), now - kClockTolerance);
  SetTime(X509_getm_notAfter(draft.get()), now + lifetime);
  X509_set_pubkey(draft.get(), key);
  return draft;
}

void SignCertificate(X509* draft, X509* issuer, EVP_PKEY* key,
                     const CertificateExtensions& extensions) {
  X509_set_issuer_name(draft, X509_get_subject_name(issuer));
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, draft, nullptr, nullptr, 0);
  for (const auto& [type, value] : extensions) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, type, value.c_str());
    RequireOpenSsl(extension != nullptr);
    X509_add_ext(draft, extension, -1);
    X509_EXTENSION_free(extension);
  }
  RequireOpenSsl(X509_sign(draft, key, EVP_sha256()) > 0);
}

CertificateAndKey NewAuthority(const std::string& common_name, std::chrono::seconds lifetime,
                               WallTime now) {
  Key key = NewKey();
  Certificate draft = DraftCertificate(key.get(), lifetime, now);
  AddToSubject(draft.get(), "CN", common_name);
  SignCertificate(draft.get(), draft.get(), key.get(),
                  {{NID_subject_key_identifier, "hash"},
                   {NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                   {NID_key_usage, "critical,digitalSignature,keyCertSign"}});
  return {std::move(draft), std::move(key)};
}

CertificateAndKey IssueForHosts(const std::vector<std::string>& hosts, X509* authority,
                                EVP_PKEY* authority_key, std::chrono::seconds lifetime,
                                WallTime now) {
  Key key = NewKey();
  Certificate draft = DraftCertificate(key.get(), lifetime, now);
  std::string names;
  for (const std::string& host : hosts) names += (names.empty() ? "DNS:" : ",DNS:") + host;
  AddToSubject(draft.get(), "CN", hosts.front());
  SignCertificate(draft.get(), authority, authority_key,
                  {{NID_authority_key_identifier, "keyid"},
                   {NID_basic_constraints, "critical,CA:FALSE"},
                   {NID_key_usage, "critical,digitalSignature"},
                   {NID_ext_key_usage, "serverAuth"},
                   {NID_subject_alt_name, names}});
  return {std::move(draft), std::move(key)};
}

bool IsKeyOf(const X509* certificate, const Key& key) {
  return key != nullptr && X509_check_private_key(certificate, key.get()) == 1;
}

bool IsSignedBy(X509* certificate, X509* authority) {
  const bool is_signed = X509_verify(certificate, X509_get0_pubkey(authority)) == 1;
  ERR_clear_error();
  return is_signed;
}

bool MayIssue(X509* authority) {
  const EVP_PKEY* const key = X509_get0_pubkey(authority);
  return X509_check_ca(authority) == 1 && (X509_get_key_usage(authority) & KU_KEY_CERT_SIGN) != 0 &&
         key != nullptr && EVP_PKEY_get_base_id(key) == EVP_PKEY_EC;
}

std::vector<Certificate> ReadCertificates(std::string_view pem) {
  std::vector<Certificate> all;
  const Bio bio = MemoryBio(pem);
  while (Certificate next{PEM_read_bio_X509(bio.get(), nullptr, RejectPassphrase, nullptr)}) {
    all.push_back(std::move(next));
  }
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  if (ERR_GET_REASON(error) == PEM_R_NO_START_LINE) return all;  // past the last certificate
  throw ConfigError("the certificate number " + std::to_string(all.size() + 1) +
                    " in PEM cannot be read");
}

Key ReadKey(std::string_view pem) {
  const Bio bio = MemoryBio(pem);
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, RejectPassphrase, nullptr));
  ERR_clear_error();
  if (key == nullptr) throw ConfigError("the private key in PEM cannot be read");
  return key;
}

std::string WhyRejected(const std::vector<Certificate>& chain,
                        const std::vector<Certificate>& authorities,
                        const std::vector<std::string>& hosts, WallTime now) {
  const std::unique_ptr<X509_STORE, OpenSslDeleter<&X509_STORE_free>> trusted(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, OpenSslDeleter<&X509_STORE_CTX_free>> verification(
      X509_STORE_CTX_new());
  const std::unique_ptr<STACK_OF(X509), OpenSslDeleter<&FreeStack>> intermediates(
      sk_X509_new_null());
  RequireOpenSsl(trusted != nullptr && verification != nullptr && intermediates != nullptr);
  for (const Certificate& authority : authorities) {
    RequireOpenSsl(X509_STORE_add_cert(trusted.get(), authority.get()) == 1);
  }
  for (std::size_t i = 1; i < chain.size(); ++i) {
    RequireOpenSsl(sk_X509_push(intermediates.get(), chain[i].get()) > 0);
  }
  RequireOpenSsl(X509_STORE_CTX_init(verification.get(), trusted.get(), chain.at(0).get(),
                                     intermediates.get()) == 1 &&
                 X509_STORE_CTX_set_default(verification.get(), "ssl_server") == 1);
  X509_VERIFY_PARAM* const parameters = X509_STORE_CTX_get0_param(verification.get());
  X509_VERIFY_PARAM_set_time(parameters, std::chrono::system_clock::to_time_t(
                                             std::chrono::floor<std::chrono::seconds>(now)));
  // A client in Go trusts each certificate of its pool, also one that is not self-signed.
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_PARTIAL_CHAIN);
  if (X509_verify_cert(verification.get()) != 1) {
    ERR_clear_error();
    return X509_verify_cert_error_string(X509_STORE_CTX_get_error(verification.get()));
  }
  for (const std::string& host : hosts) {
    // As in Go, the common name does not count.
    if (X509_check_host(chain[0].get(), host.data(), host.size(),
                        X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, nullptr) != 1) {
      return "it is not for " + host;
    }
  }
  return {};
}

CertificateValidity ValidityOf(const X509* certificate) {
  return {ToWallTime(X509_get0_notBefore(certificate)),
          ToWallTime(X509_get0_notAfter(certificate))};
}

ServerCertificate SelfSignedCertificate() {
  const Key key = NewKey();
  const Certificate draft = DraftCertificate(key.get(), kSelfSignedLifetime);
  AddToSubject(draft.get(), "CN", "localhost");
  SignCertificate(draft.get(), draft.get(), key.get(),
                  {{NID_subject_key_identifier, "hash"},
                   {NID_basic_constraints, "critical,CA:TRUE"},
                   {NID_key_usage, "critical,digitalSignature,keyCertSign"},
                   {NID_ext_key_usage, "serverAuth"},
                   {NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1"}});
  return {.chain = ToPem(draft.get()), .key = ToPem(key.get())};
}

}  // namespace kopp::detail
