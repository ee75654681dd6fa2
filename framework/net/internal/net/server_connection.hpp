#pragma once

#include "net/certificate.hpp"
#include "net/http_message.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// Returns the TLS settings of a server: TLS 1.2 or later. Throws boost::system::system_error if
/// the PEM texts cannot be used.
[[nodiscard]] std::unique_ptr<boost::asio::ssl::context> MakeServerTls(
    const ServerCertificate& certificate);
/// The same for a server that requests a client certificate and verifies it against `client_ca`
/// (PEM). A connection with an unverified certificate is accepted; see ClientCertificate::verified.
[[nodiscard]] std::unique_ptr<boost::asio::ssl::context> MakeServerTls(
    const CertificateAndKey& certificate, const std::string& client_ca);

/// The server side of one connection, over TLS or plain TCP. Used in the network thread only.
///
/// At most one read and one write are pending at a time. Their callbacks are called on success. On
/// an error or after the deadline, the connection closes and calls only `on_closed`.
class ServerConnection {
 public:
  using Callback = std::function<void(std::size_t)>;

  /// `tls` is null for plain HTTP; it is used only during the call. `on_closed` is called once,
  /// when the connection is closed and no operation is pending; it may destroy the connection.
  ServerConnection(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls,
                   std::function<void()> on_closed);
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  /// Performs the TLS handshake, if any; call it first. A client that sends plain HTTP to a TLS
  /// server gets a 400 response with the reason.
  void Start(std::function<void()> on_ready);
  [[nodiscard]] const ClientCertificate& client() const { return client_; }

  /// Sets a common deadline for all operations that start from now on.
  void SetTimeout(Duration timeout) { stream_.expires_after(timeout); }
  void ClearTimeout() { stream_.expires_never(); }

  void Read(boost::asio::mutable_buffer into, Callback callback);
  /// Writes all of `bytes`.
  void Write(std::string bytes, Callback callback);

  /// Discards received bytes until the client closes its side, then closes the connection.
  void Discard();
  /// Closes after the client has closed its side, or after 2 s. (Closing a socket that has unread
  /// bytes would discard a response that the client has not read yet.)
  void Finish();
  void Close();
  /// Closes with a TCP reset, as a crash of the server would.
  void Reset();
  /// Resets the connection when the kernel of the client has received all written bytes, or after
  /// 2 s.
  void ResetWhenDelivered();

 private:
  using Error = boost::system::error_code;

  /// Counts an operation as pending until its completion, and then calls `callback` unless the
  /// connection is closed.
  template <class Next>
  auto Pending(Next callback);
  void Handshake();
  void RejectPlainHttp();
  void HalfClose();
  void ResetWhenDelivered(TimePoint deadline);

  boost::beast::tcp_stream stream_;
  std::optional<boost::asio::ssl::stream<boost::beast::tcp_stream&>> tls_;
  boost::asio::steady_timer pause_;
  std::function<void()> on_closed_;  // empty once it was called
  std::function<void()> on_ready_;
  ClientCertificate client_;
  int pending_ = 0;
  bool closed_ = false;
  std::string writing_;  // the bytes of the pending write
  std::array<char, 4096> discarded_{};
};

}  // namespace kopp::detail
