#pragma once

#include "net/certificate.hpp"
#include "net/http_message.hpp"
#include "net/socket_bio.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <openssl/ssl.h>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// The server side of one connection, over TLS or plain TCP. Used in the network thread only.
///
/// At most one read and one write are pending at a time. Their callbacks are called on success. On
/// an error or after the deadline, the connection closes and calls only `on_closed`. An idle
/// connection holds no buffers: OpenSSL reads from and writes to the socket itself, because each
/// stream of Asio's TLS has 68 KiB of buffers of its own.
class ServerConnection {
 public:
  using Callback = std::function<void()>;
  /// Gets the received bytes, which are valid during the call.
  using ReadCallback = std::function<void(std::string_view bytes)>;

  /// `tls` is null for plain HTTP; it is used only during the call. `on_closed` is called once,
  /// when the connection is closed and no operation is pending; it may destroy the connection.
  ServerConnection(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls,
                   Callback on_closed);
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  /// Performs the TLS handshake, if any; call it first. A client that sends plain HTTP to a TLS
  /// server gets a 400 response with the reason.
  void Start(Callback on_ready);
  [[nodiscard]] const ClientCertificate& client() const { return client_; }

  /// Sets a common deadline for all operations that start from now on.
  void SetTimeout(Duration timeout);
  /// Sets an earlier deadline, also for the operations that have started with one.
  void ShortenTimeout(Duration timeout);
  void ClearTimeout() { deadline_ = TimePoint::max(); }

  /// Reads the bytes that arrive next: at most those of one TLS record.
  void Read(ReadCallback callback);
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
  using Socket = boost::asio::ip::tcp::socket;
  /// The result of an attempt to read or write.
  enum class Progress {
    kDone,
    kAgain,  ///< other connections are served first
    kNeedsRead,
    kNeedsWrite,
    kFailed,
  };

  /// Attempts an operation in the next turn of the network thread, so that a callback never runs in
  /// the call that starts its operation. `attempt` returns a Progress and is repeated, when the
  /// socket is ready for it, until it is done. A failure closes the connection.
  template <class Attempt>
  void TryNext(Attempt attempt);
  /// The same, but waits until the socket is readable first.
  template <class Attempt>
  void TryWhenReadable(Attempt attempt);
  template <class Attempt>
  void Post(Attempt attempt, bool has_deadline);
  template <class Attempt>
  void Repeat(Attempt attempt, bool has_deadline);
  template <class Attempt>
  void Await(Socket::wait_type event, Attempt attempt, bool has_deadline);
  void ArmDeadline();
  [[nodiscard]] bool has_deadline() const { return deadline_ != TimePoint::max(); }

  Progress TryHandshake();
  Progress TryRead(std::span<char> into, std::size_t& received);
  Progress TryWrite();
  Progress TryDiscard();
  [[nodiscard]] Progress ProgressOf(int tls_result);

  void RejectPlainHttp();
  void HalfClose();
  void ResetWhenDelivered(TimePoint deadline);

  Socket socket_;
  SocketIo io_;                                                            // uses socket_
  std::unique_ptr<SSL, decltype(&SSL_free)> session_{nullptr, &SSL_free};  // null: plain TCP
  boost::asio::steady_timer deadline_timer_;
  boost::asio::steady_timer pause_;
  Callback on_closed_;  // empty once it was called
  Callback on_ready_;
  ClientCertificate client_;
  TimePoint deadline_ = TimePoint::max();
  TimePoint armed_for_ = TimePoint::max();  // when deadline_timer_ expires
  int pending_ = 0;                         // operations and waits
  int pending_with_deadline_ = 0;
  bool closed_ = false;
  std::string writing_;      // the bytes of the pending write
  std::size_t written_ = 0;  // the number of them that the kernel has
};

}  // namespace kopp::detail
