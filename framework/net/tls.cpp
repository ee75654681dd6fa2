#include "net/tls.hpp"

#include "base/openssl.hpp"
#include "base/quoted.hpp"
#include "net/endpoint.hpp"

#include <utility>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <kopp/config_error.hpp>

namespace kopp::detail {
namespace {

using ErrorKind = TransportError::Kind;

[[noreturn]] void ThrowConfigError(const TlsSettings& settings, const std::string& problem) {
  throw ConfigError(settings.source + ": " + problem + " (" + ReadAndClearTlsErrors() + ")");
}

void LoadTrustedCertificates(SSL_CTX* context, const TlsSettings& settings) {
  if (settings.certificate_authority.empty()) {
    SSL_CTX_set_default_verify_paths(context);
    return;
  }
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  const Bio bio = MemoryBio(settings.certificate_authority);
  int count = 0;
  while (const Certificate certificate{
      PEM_read_bio_X509(bio.get(), nullptr, RejectPassphrase, nullptr)}) {
    X509_STORE_add_cert(store, certificate.get());
    ++count;
  }
  if (count == 0) ThrowConfigError(settings, "certificate-authority contains no PEM certificate");
  // Each certificate is a trust anchor, even an intermediate or the server certificate itself, as
  // in Go.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  ERR_clear_error();  // reading past the last certificate left an error
}

void LoadClientCertificate(SSL_CTX* context, const TlsSettings& settings) {
  if (settings.client_certificate.empty() && settings.client_key.empty()) return;
  if (settings.client_certificate.empty() || settings.client_key.empty()) {
    throw ConfigError(settings.source + ": client-certificate and client-key must be set together");
  }
  const Bio chain = MemoryBio(settings.client_certificate);
  const Certificate leaf{PEM_read_bio_X509(chain.get(), nullptr, RejectPassphrase, nullptr)};
  if (!leaf || SSL_CTX_use_certificate(context, leaf.get()) != 1) {
    ThrowConfigError(settings, "client-certificate contains no usable PEM certificate");
  }
  while (Certificate next{PEM_read_bio_X509(chain.get(), nullptr, RejectPassphrase, nullptr)}) {
    if (SSL_CTX_add0_chain_cert(context, next.get()) == 1) static_cast<void>(next.release());
  }
  ERR_clear_error();
  const Bio bytes = MemoryBio(settings.client_key.Reveal());
  const Key key{PEM_read_bio_PrivateKey(bytes.get(), nullptr, RejectPassphrase, nullptr)};
  if (!key) {
    ThrowConfigError(settings,
                     "client-key contains no PEM private key, or the key is protected by a "
                     "passphrase; use an unencrypted key");
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    ThrowConfigError(settings, "client-key does not match client-certificate");
  }
}

// Checks the subjectAltName only and ignores the CommonName, as Go does.
void RequireServerName(X509_VERIFY_PARAM* parameters, const std::string& name,
                       const TlsSettings& settings) {
  X509_VERIFY_PARAM_set_hostflags(
      parameters, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const int set = IsIpAddress(name) ? X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str())
                                    : X509_VERIFY_PARAM_set1_host(parameters, name.c_str(), 0);
  if (set != 1) {
    throw ConfigError(settings.source + ": " + Quoted(name) + " is not a valid TLS server name; " +
                      "correct the host of the server address, or tls-server-name");
  }
}

std::string FormatName(const GENERAL_NAME& name) {
  const ASN1_STRING* text = name.type == GEN_DNS ? name.d.dNSName : name.d.iPAddress;
  const unsigned char* bytes = ASN1_STRING_get0_data(text);
  const int length = ASN1_STRING_length(text);
  if (name.type == GEN_DNS) {
    return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length)};
  }
  char address[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(length == 4 ? AF_INET : AF_INET6, bytes, address, sizeof(address));
  return address;
}

// Returns the DNS names and IP addresses in the subjectAltName, separated by ", ".
std::string SubjectAltNames(X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, OpenSslDeleter<&GENERAL_NAMES_free>> names{
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
  std::string list;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME& name = *sk_GENERAL_NAME_value(names.get(), i);
    const bool is_supported = name.type == GEN_DNS || name.type == GEN_IPADD;
    if (is_supported) list += (list.empty() ? "" : ", ") + FormatName(name);
  }
  return list.empty() ? "no host (its subjectAltName contains no DNS name or IP address)" : list;
}

// Returns the reason for which the certificate of `peer` was rejected, and a remedy.
std::string ExplainVerifyError(X509_STORE_CTX* store, TlsPeer peer) {
  const bool is_proxy = peer == TlsPeer::kProxy;
  const int error = X509_STORE_CTX_get_error(store);
  const std::string message = (is_proxy ? "the certificate of the proxy was rejected: "
                                        : "the server certificate was rejected: ") +
                              std::string(X509_verify_cert_error_string(error));
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return message + "; the certificate is valid for " +
             SubjectAltNames(X509_STORE_CTX_get0_cert(store)) +
             (is_proxy ? "; correct the host in the URL of the proxy"
                       : "; correct the server address, or set tls-server-name in the "
                         "configuration");
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return message +
             (is_proxy ? "; renew the certificate of the proxy"
                       : "; renew the server certificate") +
             ", or correct the clock of this machine";
    default:
      return message +
             (is_proxy ? "; certificate-authority is not for the proxy: add the CA of the proxy to "
                         "the CAs of the system, or to the file that $SSL_CERT_FILE names"
                       : "; check that certificate-authority in the configuration is the CA of "
                         "this server");
  }
}

int ResultIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

HandshakeResult* GetResult(const SSL* ssl) {
  return static_cast<HandshakeResult*>(SSL_get_ex_data(ssl, ResultIndex()));
}

int VerifyCertificate(X509_STORE_CTX* store, void*) {
  const int verified = X509_verify_cert(store);
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  HandshakeResult* result = GetResult(ssl);
  if (verified != 1 && result != nullptr) {
    result->verify_error = ExplainVerifyError(store, result->peer);
  }
  return verified;
}

void OnSslInfo(const SSL* ssl, int where, int) {
  HandshakeResult* result = GetResult(ssl);
  if ((where & SSL_CB_HANDSHAKE_DONE) != 0 && result != nullptr) result->done = true;
}

// Returns whether `code` is an alert that the peer sent, and not an error that this side
// detected.
bool IsTlsAlert(unsigned long code) {
  return ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) >= SSL_AD_REASON_OFFSET;
}

std::string ReasonText(unsigned long code) {
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unknown TLS error" : reason;
}

// ToTransportError for the handshake with an https:// proxy.
TransportError ToProxyError(unsigned long code) {
  if (IsCertificateAlert(code)) {
    return {ErrorKind::kUntrusted,
            "the proxy requires a client certificate, or rejected the TLS connection: " +
                ReasonText(code) +
                "; kopp presents no certificate to a proxy: use a proxy with user and password in "
                "its URL"};
  }
  if (IsTlsAlert(code)) {
    return {ErrorKind::kBroken, "the proxy ended the TLS handshake: " + ReasonText(code) +
                                    "; check that the proxy supports TLS 1.2 or later"};
  }
  return {ErrorKind::kUntrusted, "the TLS handshake with the proxy failed: " + ReasonText(code) +
                                     "; check that it is an https:// proxy: the URL of a proxy "
                                     "without TLS starts with http://"};
}

}  // namespace

TlsContext::TlsContext(const TlsSettings& settings, std::string server_name)
    : context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free),
      server_name_(std::move(server_name)) {
  if (settings.insecure_skip_tls_verify && !settings.certificate_authority.empty()) {
    throw ConfigError(
        settings.source +
        ": certificate-authority and insecure-skip-tls-verify are mutually exclusive");
  }
  SSL_CTX* context = context_.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_info_callback(context, OnSslInfo);
  LoadClientCertificate(context, settings);
  if (settings.insecure_skip_tls_verify) return;
  LoadTrustedCertificates(context, settings);
  RequireServerName(SSL_CTX_get0_param(context), server_name_, settings);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, VerifyCertificate, nullptr);
}

std::unique_ptr<const TlsContext> TlsContext::ForProxy(const std::string& host,
                                                       const std::string& where) {
  auto context = std::make_unique<TlsContext>(TlsSettings{.source = where}, host);
  context->peer_ = TlsPeer::kProxy;
  return context;
}

std::unique_ptr<SSL, decltype(&SSL_free)> TlsContext::NewSession(HandshakeResult& result) const {
  std::unique_ptr<SSL, decltype(&SSL_free)> session(SSL_new(context_.get()), &SSL_free);
  if (!session) throw std::bad_alloc();
  if (!IsIpAddress(server_name_)) SSL_set_tlsext_host_name(session.get(), server_name_.c_str());
  result.peer = peer_;
  Attach(session.get(), result);
  return session;
}

void TlsContext::Attach(SSL* ssl, HandshakeResult& result) {
  SSL_set_ex_data(ssl, ResultIndex(), &result);
}

bool TlsContext::IsContextOf(const SSL* session) const {
  return session != nullptr && SSL_get_SSL_CTX(session) == context_.get();
}

SSL_CTX* TlsContext::NewReference() const {
  SSL_CTX_up_ref(context_.get());
  return context_.get();
}

bool TlsContext::verifies_server() const {
  return SSL_CTX_get_verify_mode(context_.get()) != SSL_VERIFY_NONE;
}

std::string ReadAndClearTlsErrors() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  return ReasonText(code);
}

bool IsCertificateAlert(unsigned long code) {
  if (!IsTlsAlert(code)) return false;
  const int alert = ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET;
  // Alerts 42 to 49 (RFC 8446, section 6.2) reject the certificate or the access of the client. The
  // range also contains illegal_parameter (47). With decrypt_error the server could not verify a
  // signature of the client.
  return (alert >= SSL_AD_BAD_CERTIFICATE && alert <= SSL_AD_ACCESS_DENIED) ||
         alert == SSL_AD_DECRYPT_ERROR || alert == SSL_AD_CERTIFICATE_REQUIRED;
}

TransportError ToTransportError(unsigned long code, TlsPeer peer) {
  if (peer == TlsPeer::kProxy) return ToProxyError(code);
  if (IsCertificateAlert(code)) {
    return {ErrorKind::kUntrusted,
            "the server rejected the client certificate, or requires one: " + ReasonText(code) +
                "; check client-certificate and client-key in the configuration"};
  }
  if (IsTlsAlert(code)) {
    return {ErrorKind::kBroken, "the server ended the TLS handshake: " + ReasonText(code) +
                                    "; check that the server supports TLS 1.2 or later"};
  }
  return {ErrorKind::kUntrusted, "the TLS handshake failed: " + ReasonText(code) +
                                     "; check that the server serves HTTPS at this address"};
}

}  // namespace kopp::detail
