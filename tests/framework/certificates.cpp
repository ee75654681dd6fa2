#include "certificates.hpp"

#include <memory>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace kopp::testing {
namespace {

template <auto kFree>
struct Free {
  template <class T>
  void operator()(T* held) const {
    kFree(held);
  }
};
using Bio = std::unique_ptr<BIO, Free<&BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Free<&EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, Free<&X509_free>>;

void Require(bool worked) {
  if (!worked) throw std::runtime_error("OpenSSL could not make a test certificate");
}

std::string Text(const Bio& bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

Identity AsPem(X509* certificate, EVP_PKEY* key) {
  const Bio first(BIO_new(BIO_s_mem()));
  const Bio second(BIO_new(BIO_s_mem()));
  Require(PEM_write_bio_X509(first.get(), certificate) == 1);
  Require(PEM_write_bio_PrivateKey(second.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return {Text(first), Text(second)};
}

void Extend(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str());
  Require(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509Ptr Draft(EVP_PKEY* key, const std::string& common_name, bool expired) {
  static long serial = 1;
  constexpr long kDay = 24L * 60 * 60;
  X509Ptr draft(X509_new());
  X509_set_version(draft.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(draft.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(draft.get()), -2 * kDay);
  X509_gmtime_adj(X509_getm_notAfter(draft.get()), expired ? -kDay : kDay);
  X509_set_pubkey(draft.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(draft.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  return draft;
}

void Sign(X509* draft, X509* issuer, EVP_PKEY* key) {
  X509_set_issuer_name(draft, X509_get_subject_name(issuer));
  Require(X509_sign(draft, key, EVP_sha256()) > 0);
}

Bio OverBytes(const std::string& bytes) {
  return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

}  // namespace

Authority::Authority() {
  const Key key(EVP_EC_gen("P-256"));
  const X509Ptr certificate = Draft(key.get(), "kopp test authority", false);
  Extend(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  Sign(certificate.get(), certificate.get(), key.get());
  own_ = AsPem(certificate.get(), key.get());
}

Authority::Authority(const Authority& issuer, const std::string& common_name)
    : own_(issuer.Issue({.common_name = common_name, .authority = true})) {}

Identity Authority::Issue(const Certificate& what) const {
  const X509Ptr issuer(
      PEM_read_bio_X509(OverBytes(own_.certificate).get(), nullptr, nullptr, nullptr));
  const Key issuer_key(
      PEM_read_bio_PrivateKey(OverBytes(own_.key).get(), nullptr, nullptr, nullptr));
  const Key key(EVP_EC_gen("P-256"));
  const X509Ptr certificate = Draft(key.get(), what.common_name, what.expired);
  if (!what.names.empty()) {
    Extend(certificate.get(), issuer.get(), NID_subject_alt_name, what.names);
  }
  if (what.authority) {
    Extend(certificate.get(), issuer.get(), NID_basic_constraints, "critical,CA:TRUE");
  }
  Sign(certificate.get(), issuer.get(), issuer_key.get());
  return AsPem(certificate.get(), key.get());
}

Identity Authority::IssueForLoopback() const {
  return Issue({.names = "DNS:localhost,IP:127.0.0.1,IP:::1"});
}

}  // namespace kopp::testing
