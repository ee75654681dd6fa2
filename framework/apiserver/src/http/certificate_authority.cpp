#include "http/certificate_authority.hpp"

#include <initializer_list>
#include <stdexcept>
#include <utility>

#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

namespace kopp::apiserver {
namespace {

using detail::Bio;
using detail::Certificate;
using detail::Key;
using Extensions = std::initializer_list<std::pair<int, std::string>>;

constexpr long kHour = 60L * 60;
constexpr long kYear = 365L * 24 * kHour;
constexpr const char* kAuthenticated = "system:authenticated";  // implied by each certificate

void Require(bool success) {
  if (!success) throw std::runtime_error("cannot create a certificate: an OpenSSL call failed");
}

std::string PemText(const Bio& bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

std::string ToPem(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  Require(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return PemText(bio);
}

std::string ToPem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  Require(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return PemText(bio);
}

Key NewKey() {
  Key key(EVP_EC_gen("P-256"));
  Require(key != nullptr);
  return key;
}

// V_ASN1_UTF8STRING allows values of any length. MBSTRING_UTF8 would enforce the 64 characters of
// X.509, which names of service accounts exceed and which no server checks.
void AddToName(X509* certificate, const char* field, const std::string& value) {
  Require(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), field, V_ASN1_UTF8STRING,
                                     reinterpret_cast<const unsigned char*>(value.data()),
                                     static_cast<int>(value.size()), -1, 0) == 1);
}

/// Returns a certificate without subject, extensions and signature.
Certificate Draft(EVP_PKEY* key) {
  Certificate draft(X509_new());
  std::uint32_t serial = 0;
  Require(draft != nullptr && RAND_bytes(reinterpret_cast<unsigned char*>(&serial), 4) == 1);
  X509_set_version(draft.get(), X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(draft.get()), serial + std::uint64_t{1});
  X509_gmtime_adj(X509_getm_notBefore(draft.get()), -kHour);
  X509_gmtime_adj(X509_getm_notAfter(draft.get()), kYear);
  X509_set_pubkey(draft.get(), key);
  return draft;
}

void Sign(X509* draft, X509* issuer, EVP_PKEY* key, const Extensions& extensions) {
  X509_set_issuer_name(draft, X509_get_subject_name(issuer));
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, draft, nullptr, nullptr, 0);
  for (const auto& [type, value] : extensions) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, type, value.c_str());
    Require(extension != nullptr);
    X509_add_ext(draft, extension, -1);
    X509_EXTENSION_free(extension);
  }
  Require(X509_sign(draft, key, EVP_sha256()) > 0);
}

}  // namespace

CertificateAuthority::CertificateAuthority() : key_(NewKey()), certificate_(Draft(key_.get())) {
  AddToName(certificate_.get(), "CN", "kopp API server");
  Sign(certificate_.get(), certificate_.get(), key_.get(),
       {{NID_subject_key_identifier, "hash"},
        {NID_basic_constraints, "critical,CA:TRUE"},
        {NID_key_usage, "critical,digitalSignature,keyCertSign"}});
  pem_ = ToPem(certificate_.get());
}

detail::ServerCertificate CertificateAuthority::IssueForServer(const std::string& address) const {
  const Key key = NewKey();
  const Certificate draft = Draft(key.get());
  AddToName(draft.get(), "CN", "kopp-apiserver");
  Sign(draft.get(), certificate_.get(), key_.get(),
       {{NID_authority_key_identifier, "keyid"},
        {NID_key_usage, "critical,digitalSignature"},
        {NID_ext_key_usage, "serverAuth"},
        {NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1,IP:" + address}});
  return {ToPem(draft.get()), ToPem(key.get())};
}

detail::ServerCertificate CertificateAuthority::IssueForUser(const User& user) const {
  const Key key = NewKey();
  const Certificate draft = Draft(key.get());
  for (const std::string& group : user.groups) {
    if (group != kAuthenticated) AddToName(draft.get(), "O", group);
  }
  AddToName(draft.get(), "CN", user.name);
  Sign(draft.get(), certificate_.get(), key_.get(),
       {{NID_authority_key_identifier, "keyid"},
        {NID_key_usage, "critical,digitalSignature"},
        {NID_ext_key_usage, "clientAuth"}});
  return {ToPem(draft.get()), ToPem(key.get())};
}

}  // namespace kopp::apiserver
