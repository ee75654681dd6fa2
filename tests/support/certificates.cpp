#include "certificates.hpp"

#include "base/openssl.hpp"

#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace kopp::testing {
namespace {

using detail::Bio;
using detail::Certificate;
using detail::Key;
using detail::MemoryBio;

void ThrowUnless(bool succeeded) {
  if (!succeeded) throw std::runtime_error("OpenSSL failed to create a test certificate");
}

std::string ReadAll(const Bio& bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

CertificateAndKey ToPem(X509* certificate, EVP_PKEY* key) {
  const Bio certificate_bio(BIO_new(BIO_s_mem()));
  const Bio key_bio(BIO_new(BIO_s_mem()));
  ThrowUnless(PEM_write_bio_X509(certificate_bio.get(), certificate) == 1);
  ThrowUnless(PEM_write_bio_PrivateKey(key_bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) ==
              1);
  return {ReadAll(certificate_bio), ReadAll(key_bio)};
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  ThrowUnless(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Certificate MakeUnsigned(EVP_PKEY* key, const std::string& common_name, bool expired) {
  static long serial = 1;
  constexpr long kDay = 24L * 60 * 60;
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -2 * kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), expired ? -kDay : kDay);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  return certificate;
}

void Sign(X509* certificate, X509* issuer, EVP_PKEY* key) {
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  ThrowUnless(X509_sign(certificate, key, EVP_sha256()) > 0);
}

}  // namespace

CertificateAuthority::CertificateAuthority() {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = MakeUnsigned(key.get(), "kopp test authority", false);
  AddExtension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  Sign(certificate.get(), certificate.get(), key.get());
  own_ = ToPem(certificate.get(), key.get());
}

CertificateAuthority::CertificateAuthority(const CertificateAuthority& issuer,
                                           const std::string& common_name)
    : own_(issuer.Issue({.common_name = common_name, .is_ca = true})) {}

CertificateAndKey CertificateAuthority::Issue(const CertificateOptions& options) const {
  const Certificate issuer(
      PEM_read_bio_X509(MemoryBio(own_.certificate).get(), nullptr, nullptr, nullptr));
  const Key issuer_key(
      PEM_read_bio_PrivateKey(MemoryBio(own_.key).get(), nullptr, nullptr, nullptr));
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = MakeUnsigned(key.get(), options.common_name, options.expired);
  if (!options.subject_alt_names.empty()) {
    AddExtension(certificate.get(), issuer.get(), NID_subject_alt_name, options.subject_alt_names);
  }
  if (options.is_ca) {
    AddExtension(certificate.get(), issuer.get(), NID_basic_constraints, "critical,CA:TRUE");
  }
  Sign(certificate.get(), issuer.get(), issuer_key.get());
  return ToPem(certificate.get(), key.get());
}

CertificateAndKey CertificateAuthority::IssueForLoopback() const {
  return Issue({.subject_alt_names = "DNS:localhost,IP:127.0.0.1,IP:::1"});
}

}  // namespace kopp::testing
