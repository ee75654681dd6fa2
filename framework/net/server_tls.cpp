#include "net/server_tls.hpp"

#include "base/openssl.hpp"

#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/system/system_error.hpp>
#include <openssl/err.h>
#include <openssl/x509.h>

#include <kopp/config_error.hpp>

namespace kopp::detail {
namespace {

namespace asio = boost::asio;

std::string Utf8(const ASN1_STRING* text) {
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, text);
  if (size < 0) return {};
  std::string utf8(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return utf8;
}

std::unique_ptr<asio::ssl::context> NewServerTls() {
  auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  tls->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1 |
                   SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(tls->native_handle(), SSL_SESS_CACHE_OFF);
  return tls;
}

/// Makes the handshake fail unless the client has a certificate of one of the CAs in `pem`. The
/// CAs need not be root CAs. Sends their names to clients, which may have several certificates.
void RequireClientCertificate(SSL_CTX* tls, const std::string& pem) {
  const std::vector<Certificate> authorities = ReadCertificates(pem);
  if (authorities.empty()) throw ConfigError("there is no client CA in PEM");
  X509_STORE* trusted = SSL_CTX_get_cert_store(tls);
  X509_STORE_set_flags(trusted, X509_V_FLAG_PARTIAL_CHAIN);
  for (const Certificate& authority : authorities) {
    X509_STORE_add_cert(trusted, authority.get());
    SSL_CTX_add_client_CA(tls, authority.get());
  }
  SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

}  // namespace

std::unique_ptr<asio::ssl::context> MakeServerTls(
    const ServerCertificate& certificate, const std::optional<std::string>& required_client_ca) {
  auto tls = NewServerTls();
  tls->use_certificate_chain(asio::buffer(certificate.chain));
  tls->use_private_key(asio::buffer(certificate.key), asio::ssl::context::pem);
  if (required_client_ca) RequireClientCertificate(tls->native_handle(), *required_client_ca);
  return tls;
}

std::unique_ptr<asio::ssl::context> MakeServerTls(const CertificateAndKey& certificate,
                                                  const std::string& client_ca) {
  auto tls = NewServerTls();
  ERR_clear_error();
  if (SSL_CTX_use_certificate(tls->native_handle(), certificate.certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(tls->native_handle(), certificate.key.get()) != 1) {
    throw boost::system::system_error(static_cast<int>(ERR_get_error()),
                                      asio::error::get_ssl_category(), "server certificate");
  }
  tls->add_certificate_authority(asio::buffer(client_ca));
  // Accepts an unverified certificate: the client then gets an HTTP response, which has a better
  // error text than a TLS alert.
  SSL_CTX_set_verify(tls->native_handle(), SSL_VERIFY_PEER,
                     [](int /*is_verified*/, X509_STORE_CTX*) { return 1; });
  return tls;
}

ClientCertificate ClientCertificateOf(SSL* session) {
  const Certificate certificate(SSL_get1_peer_certificate(session));
  if (certificate == nullptr) return {};
  ClientCertificate client{.presented = true};
  if (SSL_get_verify_result(session) != X509_V_OK) return client;
  client.verified = true;
  const X509_NAME* subject = X509_get_subject_name(certificate.get());
  for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(subject, i);
    const int type = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    std::string value = Utf8(X509_NAME_ENTRY_get_data(entry));
    if (type == NID_commonName) {
      client.common_name = std::move(value);
    } else if (type == NID_organizationName) {
      client.organizations.push_back(std::move(value));
    }
  }
  return client;
}

}  // namespace kopp::detail
