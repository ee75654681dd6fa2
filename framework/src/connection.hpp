#pragma once

#include "name_lookup.hpp"
#include "socket.hpp"
#include "tls.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// One TCP connection, with TLS or without, to write to and read from with a deadline.
///
/// Plain blocking calls, by poll: an idle connection costs one descriptor and no thread. Used by
/// one thread at a time; only Interrupt may come from another. Whatever fails throws
/// TransportError, its text without what was asked.
class Connection {
 public:
  /// Starts to connect.
  explicit Connection(const Address& to);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void AwaitConnected(TimePoint deadline);
  void Handshake(const TlsContext& tls, TimePoint deadline);

  /// Returns when the kernel has all of `bytes`. Where it throws that the connection broke, there
  /// may still be something to read.
  void Write(std::string_view bytes, TimePoint deadline);

  /// How many bytes came: 0 when the other side ended in order, nullopt at `deadline`. A deadline
  /// in the past takes what is there.
  [[nodiscard]] std::optional<std::size_t> Read(std::span<char> into, TimePoint deadline);

  /// Whether nothing happened since the last answer, so that another request may go this way.
  [[nodiscard]] bool IsFit() const;

  /// Ends what is under way, and whatever follows, with an error.
  void Interrupt() const noexcept { detail::Interrupt(wire_.socket.get()); }

 private:
  // What OpenSSL reads from and writes to; its errors are of `socket`, not of TLS.
  struct Wire {
    Descriptor socket;
    int error = 0;  // errno of the last failure; 0: the other side closed
  };
  static const BIO_METHOD* Bio();
  static int BioRead(BIO* bio, char* bytes, int size);
  static int BioWrite(BIO* bio, const char* bytes, int size);
  static long BioControl(BIO* bio, int command, long number, void* pointer);

  [[nodiscard]] bool Await(short events, TimePoint deadline) const;
  [[nodiscard]] std::optional<std::size_t> ReadPlain(std::span<char> into, TimePoint deadline);
  [[nodiscard]] std::optional<std::size_t> ReadTls(std::span<char> into, TimePoint deadline);
  [[noreturn]] void FailHandshake(int error);
  [[noreturn]] void FailTls(int error);
  [[nodiscard]] static short EventsFor(int error);

  Wire wire_;
  HandshakeReport report_;
  std::unique_ptr<SSL, decltype(&SSL_free)> session_{nullptr, &SSL_free};
};

}  // namespace kopp::detail
