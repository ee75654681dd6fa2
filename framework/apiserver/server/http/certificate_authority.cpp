#include "http/certificate_authority.hpp"

#include <chrono>
#include <utility>

#include <openssl/x509v3.h>

namespace kopp::apiserver {
namespace {

using detail::AddToSubject;
using detail::Certificate;
using detail::DraftCertificate;
using detail::Key;
using detail::NewKey;
using detail::SignCertificate;
using detail::ToPem;

constexpr std::chrono::seconds kLifetime = std::chrono::days(365);
constexpr const char* kAuthenticated = "system:authenticated";  // implied by each certificate

}  // namespace

CertificateAuthority::CertificateAuthority()
    : key_(NewKey()), certificate_(DraftCertificate(key_.get(), kLifetime)) {
  AddToSubject(certificate_.get(), "CN", "kopp API server");
  SignCertificate(certificate_.get(), certificate_.get(), key_.get(),
                  {{NID_subject_key_identifier, "hash"},
                   {NID_basic_constraints, "critical,CA:TRUE"},
                   {NID_key_usage, "critical,digitalSignature,keyCertSign"}});
  pem_ = ToPem(certificate_.get());
}

detail::CertificateAndKey CertificateAuthority::IssueForServer(const std::string& address) const {
  Key key = NewKey();
  Certificate draft = DraftCertificate(key.get(), kLifetime);
  AddToSubject(draft.get(), "CN", "kopp-apiserver");
  SignCertificate(draft.get(), certificate_.get(), key_.get(),
                  {{NID_authority_key_identifier, "keyid"},
                   {NID_key_usage, "critical,digitalSignature"},
                   {NID_ext_key_usage, "serverAuth"},
                   {NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1,IP:" + address}});
  return {std::move(draft), std::move(key)};
}

detail::ServerCertificate CertificateAuthority::IssueForUser(const User& user) const {
  const Key key = NewKey();
  const Certificate draft = DraftCertificate(key.get(), kLifetime);
  for (const std::string& group : user.groups) {
    if (group != kAuthenticated) AddToSubject(draft.get(), "O", group);
  }
  AddToSubject(draft.get(), "CN", user.name);
  SignCertificate(draft.get(), certificate_.get(), key_.get(),
                  {{NID_authority_key_identifier, "keyid"},
                   {NID_key_usage, "critical,digitalSignature"},
                   {NID_ext_key_usage, "clientAuth"}});
  return {ToPem(draft.get()), ToPem(key.get())};
}

}  // namespace kopp::apiserver
