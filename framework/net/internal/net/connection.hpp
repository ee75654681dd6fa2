#pragma once

#include "net/name_lookup.hpp"
#include "net/socket.hpp"
#include "net/socket_bio.hpp"
#include "net/tls.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// One client TCP connection, with or without TLS, whose reads and writes have deadlines. Through
/// an https:// proxy, the TLS session with the server runs inside that with the proxy.
///
/// All calls block in poll(), so an idle connection costs one descriptor and no thread. Not
/// thread-safe, except that any thread may call LastReceived and Interrupt. Every failure throws
/// TransportError with a text that does not name the request.
class Connection {
 public:
  /// Starts to connect and returns without waiting.
  explicit Connection(const Address& to);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Blocks until the TCP connection is established.
  void WaitUntilConnected(TimePoint deadline);
  /// Blocks until the TLS handshake is complete. The second handshake of a connection runs inside
  /// the TLS session of the first.
  void Handshake(const TlsContext& tls, TimePoint deadline);

  /// Blocks until the kernel has accepted all of `bytes`. After a kBroken error, Read may still
  /// return bytes that the peer sent before.
  void Write(std::string_view bytes, TimePoint deadline);

  /// Blocks until bytes arrive and returns their number: 0 if the peer closed the connection
  /// without an error, nullopt if `deadline` passed. With a deadline in the past it does not block.
  [[nodiscard]] std::optional<std::size_t> Read(std::span<char> buffer, TimePoint deadline);

  /// Returns whether the connection can carry another request that uses `tls` (null: no TLS): it
  /// belongs to this context, is open and has no unread bytes.
  [[nodiscard]] bool IsReusable(const TlsContext* tls) const;

  /// Returns the time at which the last bytes arrived. Thread-safe.
  [[nodiscard]] TimePoint LastReceived() const {
    return Clock::Real().Now() - GetTcpStats(io_.socket).silent;
  }

  /// Makes the current and all later calls fail. Thread-safe.
  void Interrupt() const noexcept { detail::Interrupt(io_.socket); }

 private:
  [[nodiscard]] BIO* NewBio();

  [[nodiscard]] bool WaitFor(short events, TimePoint deadline) const;
  [[nodiscard]] std::optional<std::size_t> ReadPlain(std::span<char> buffer, TimePoint deadline);
  [[nodiscard]] std::optional<std::size_t> ReadTls(std::span<char> buffer, TimePoint deadline);
  [[noreturn]] void ThrowHandshakeError(int error);
  [[nodiscard]] bool IsClosedByProxy() const;
  [[noreturn]] void ThrowTlsError(int error);
  [[nodiscard]] static short PollEventsFor(int error);

  using Session = std::unique_ptr<SSL, decltype(&SSL_free)>;

  FileDescriptor socket_;
  SocketIo io_;                                // of socket_; OpenSSL reads and writes it
  HandshakeResult handshake_;                  // of the last handshake
  Session proxy_session_{nullptr, &SSL_free};  // null unless session_ runs inside it
  Session session_{nullptr, &SSL_free};        // carries the bytes of Read and Write; null: no TLS
};

}  // namespace kopp::detail
