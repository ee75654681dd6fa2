#include "tls.hpp"

#include "endpoint.hpp"
#include "openssl.hpp"

#include <utility>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace kopp::detail {
namespace {

[[noreturn]] void Refuse(const Config& config, const std::string& what) {
  throw ConfigError(config.source + ": " + what + " (" + TakeTlsError() + ")");
}

void TrustOnly(SSL_CTX* context, const Config& config) {
  if (config.certificate_authority.empty()) {
    SSL_CTX_set_default_verify_paths(context);
    return;
  }
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  const Bio bio = OverBytes(config.certificate_authority);
  int found = 0;
  while (const Certificate one{PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)}) {
    X509_STORE_add_cert(store, one.get());
    ++found;
  }
  if (found == 0) Refuse(config, "no certificate in PEM in certificate-authority");
  // Go takes each of them for an anchor, be it an intermediate's or the server's own.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  ERR_clear_error();  // the end of the text was read as an error
}

void UseClientCertificate(SSL_CTX* context, const Config& config) {
  if (config.client_certificate.empty() && config.client_key.empty()) return;
  if (config.client_certificate.empty() || config.client_key.empty()) {
    throw ConfigError(config.source +
                      ": client-certificate and client-key are of use only together");
  }
  const Bio chain = OverBytes(config.client_certificate);
  const Certificate own{PEM_read_bio_X509(chain.get(), nullptr, NoPassphrase, nullptr)};
  if (!own || SSL_CTX_use_certificate(context, own.get()) != 1) {
    Refuse(config, "no certificate in PEM in client-certificate");
  }
  while (Certificate next{PEM_read_bio_X509(chain.get(), nullptr, NoPassphrase, nullptr)}) {
    if (SSL_CTX_add0_chain_cert(context, next.get()) == 1) static_cast<void>(next.release());
  }
  ERR_clear_error();
  const Bio bytes = OverBytes(config.client_key);
  const Key key{PEM_read_bio_PrivateKey(bytes.get(), nullptr, NoPassphrase, nullptr)};
  if (!key) Refuse(config, "no key in PEM without a passphrase in client-key");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    Refuse(config, "client-key does not belong to client-certificate");
  }
}

// Go reads no CommonName either: a certificate says whom it is for in its subjectAltName alone.
void DemandName(X509_VERIFY_PARAM* rules, const std::string& name) {
  X509_VERIFY_PARAM_set_hostflags(
      rules, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const int set = IsAddress(name) ? X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str())
                                  : X509_VERIFY_PARAM_set1_host(rules, name.c_str(), 0);
  if (set != 1) throw ConfigError("\"" + name + "\" cannot be the name in a certificate");
}

std::string OneName(const GENERAL_NAME& name) {
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

std::string NamesOf(X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, Free<&GENERAL_NAMES_free>> names{static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
  std::string list;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME& name = *sk_GENERAL_NAME_value(names.get(), i);
    const bool known = name.type == GEN_DNS || name.type == GEN_IPADD;
    if (known) list += (list.empty() ? "" : ", ") + OneName(name);
  }
  return list.empty() ? "nobody, since it has no subjectAltName" : list;
}

std::string Explain(X509_STORE_CTX* store) {
  const int error = X509_STORE_CTX_get_error(store);
  const std::string what = X509_verify_cert_error_string(error);
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return what + ": it is for " + NamesOf(X509_STORE_CTX_get0_cert(store)) +
             ": is the server's address right, or is tls-server-name wanted in the kubeconfig?";
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return what + ": renew it, or set this machine's clock right";
    default:
      return what + ": is certificate-authority in the kubeconfig that of this server?";
  }
}

int ReportIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

HandshakeReport* ReportOf(const SSL* ssl) {
  return static_cast<HandshakeReport*>(SSL_get_ex_data(ssl, ReportIndex()));
}

int Verify(X509_STORE_CTX* store, void*) {
  const int verified = X509_verify_cert(store);
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  HandshakeReport* report = ReportOf(ssl);
  if (verified != 1 && report != nullptr) {
    report->refusal = "the server's certificate is not trusted: " + Explain(store);
  }
  return verified;
}

void OnProgress(const SSL* ssl, int where, int) {
  HandshakeReport* report = ReportOf(ssl);
  if ((where & SSL_CB_HANDSHAKE_DONE) != 0 && report != nullptr) report->done = true;
}

// Whether `code` is what the other side said (an alert), and not what we found.
bool IsTlsAlert(unsigned long code) {
  return ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) >= SSL_AD_REASON_OFFSET;
}

std::string ReasonOf(unsigned long code) {
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unknown TLS error" : reason;
}

}  // namespace

TlsContext::TlsContext(const Config& config, std::string server_name)
    : context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free),
      server_name_(std::move(server_name)) {
  if (config.insecure_skip_tls_verify && !config.certificate_authority.empty()) {
    throw ConfigError(config.source +
                      ": certificate-authority and insecure-skip-tls-verify exclude each other");
  }
  SSL_CTX* context = context_.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_info_callback(context, OnProgress);
  UseClientCertificate(context, config);
  if (config.insecure_skip_tls_verify) return;
  TrustOnly(context, config);
  DemandName(SSL_CTX_get0_param(context), server_name_);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, Verify, nullptr);
}

std::unique_ptr<SSL, decltype(&SSL_free)> TlsContext::NewSession(HandshakeReport& report) const {
  std::unique_ptr<SSL, decltype(&SSL_free)> session(SSL_new(context_.get()), &SSL_free);
  if (!session) throw std::bad_alloc();
  if (!IsAddress(server_name_)) SSL_set_tlsext_host_name(session.get(), server_name_.c_str());
  Attach(session.get(), report);
  return session;
}

void TlsContext::Attach(SSL* ssl, HandshakeReport& report) {
  SSL_set_ex_data(ssl, ReportIndex(), &report);
}

SSL_CTX* TlsContext::Share() const {
  SSL_CTX_up_ref(context_.get());
  return context_.get();
}

bool TlsContext::verifies() const {
  return SSL_CTX_get_verify_mode(context_.get()) != SSL_VERIFY_NONE;
}

std::string TakeTlsError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  return ReasonOf(code);
}

bool IsCertificateAlert(unsigned long code) {
  if (!IsTlsAlert(code)) return false;
  const int alert = ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET;
  return (alert >= SSL_AD_BAD_CERTIFICATE && alert <= SSL_AD_ACCESS_DENIED) ||
         alert == SSL_AD_DECRYPT_ERROR ||  // its signature is not that of the authority
         alert == SSL_AD_CERTIFICATE_REQUIRED;
}

TransportError ExplainHandshake(unsigned long code) {
  using Kind = TransportError::Kind;
  if (IsCertificateAlert(code)) {
    return {Kind::kUntrusted, "the server refused us in the TLS handshake: " + ReasonOf(code) +
                                  ": does it accept the client-certificate in the kubeconfig?"};
  }
  if (IsTlsAlert(code)) {
    return {Kind::kBroken, "the server ended the TLS handshake: " + ReasonOf(code)};
  }
  return {Kind::kUntrusted,
          "the TLS handshake failed: " + ReasonOf(code) + ": does the server speak TLS there?"};
}

}  // namespace kopp::detail
