#include "net/server_connection.hpp"

#include "base/openssl.hpp"

#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>
#include <linux/sockios.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/ioctl.h>

namespace kopp::detail {
namespace {

namespace asio = boost::asio;

constexpr Duration kLinger = std::chrono::seconds(2);
constexpr Duration kDeliveryPollInterval = std::chrono::milliseconds(1);

/// Returns whether the kernel of the peer has not acknowledged all written bytes yet.
bool HasUndeliveredBytes(int socket) {
  int bytes = 0;
  return ::ioctl(socket, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

std::string Utf8(const ASN1_STRING* text) {
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, text);
  if (size < 0) return {};
  std::string utf8(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return utf8;
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

std::unique_ptr<asio::ssl::context> NewServerTls() {
  auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  tls->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1 |
                   SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(tls->native_handle(), SSL_SESS_CACHE_OFF);
  return tls;
}

}  // namespace

std::unique_ptr<asio::ssl::context> MakeServerTls(const ServerCertificate& certificate) {
  auto tls = NewServerTls();
  tls->use_certificate_chain(asio::buffer(certificate.chain));
  tls->use_private_key(asio::buffer(certificate.key), asio::ssl::context::pem);
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

ServerConnection::ServerConnection(asio::ip::tcp::socket socket, asio::ssl::context* tls,
                                   std::function<void()> on_closed)
    : stream_(std::move(socket)), pause_(stream_.get_executor()), on_closed_(std::move(on_closed)) {
  if (tls != nullptr) tls_.emplace(stream_, *tls);
}

template <class Next>
auto ServerConnection::Pending(Next callback) {
  ++pending_;
  return [this, callback = std::move(callback)](const Error& error, std::size_t size = 0) {
    --pending_;
    if (error || closed_) return Close();
    callback(size);
  };
}

void ServerConnection::Start(std::function<void()> on_ready) {
  if (!tls_) return on_ready();
  on_ready_ = std::move(on_ready);
  stream_.async_read_some(asio::buffer(discarded_.data(), 1), Pending([this](std::size_t) {
                            const bool is_letter = discarded_[0] >= 'A' && discarded_[0] <= 'Z';
                            is_letter ? RejectPlainHttp() : Handshake();
                          }));
}

void ServerConnection::Handshake() {
  tls_->async_handshake(asio::ssl::stream_base::server, asio::buffer(discarded_.data(), 1),
                        Pending([this](std::size_t) {
                          client_ = ClientCertificateOf(tls_->native_handle());
                          on_ready_();
                        }));
}

void ServerConnection::RejectPlainHttp() {
  tls_.reset();
  Write("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
        [this](std::size_t) { Finish(); });
}

void ServerConnection::Read(asio::mutable_buffer into, Callback callback) {
  if (closed_) return;
  tls_ ? tls_->async_read_some(into, Pending(std::move(callback)))
       : stream_.async_read_some(into, Pending(std::move(callback)));
}

void ServerConnection::Write(std::string bytes, Callback callback) {
  if (closed_) return;
  writing_ = std::move(bytes);
  auto written = Pending([this, callback = std::move(callback)](std::size_t size) {
    std::string().swap(writing_);  // frees the memory of the last response
    callback(size);
  });
  tls_ ? asio::async_write(*tls_, asio::buffer(writing_), std::move(written))
       : asio::async_write(stream_, asio::buffer(writing_), std::move(written));
}

void ServerConnection::Discard() {
  if (closed_) return;
  stream_.async_read_some(asio::buffer(discarded_), Pending([this](std::size_t) { Discard(); }));
}

void ServerConnection::Finish() {
  if (closed_) return;
  SetTimeout(kLinger);
  if (!tls_) return HalfClose();
  ++pending_;
  tls_->async_shutdown([this](const Error&) {  // ignores errors: the client may not take part
    --pending_;
    closed_ ? Close() : HalfClose();
  });
}

void ServerConnection::HalfClose() {
  Error ignored;
  stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
  Discard();
}

void ServerConnection::Close() {
  if (!std::exchange(closed_, true)) {
    stream_.close();
    pause_.cancel();
  }
  if (pending_ > 0 || on_closed_ == nullptr) return;
  asio::post(stream_.get_executor(), std::exchange(on_closed_, nullptr));
}

void ServerConnection::Reset() {
  Error ignored;
  if (!closed_) stream_.socket().set_option(asio::socket_base::linger(true, 0), ignored);
  Close();
}

void ServerConnection::ResetWhenDelivered() {
  ResetWhenDelivered(std::chrono::steady_clock::now() + kLinger);
}

void ServerConnection::ResetWhenDelivered(TimePoint deadline) {
  const bool has_time = std::chrono::steady_clock::now() < deadline;
  if (closed_ || !has_time || !HasUndeliveredBytes(stream_.socket().native_handle())) {
    return Reset();
  }
  pause_.expires_after(kDeliveryPollInterval);
  pause_.async_wait(Pending([this, deadline](std::size_t) { ResetWhenDelivered(deadline); }));
}

}  // namespace kopp::detail
