#pragma once

#include "base/file_descriptor.hpp"

#include <chrono>
#include <cstdint>

namespace kopp::detail {

/// Sets the options that kopp uses on every TCP socket: TCP_NODELAY, close-on-exec, and keep-alive
/// probes and a user timeout that detect a dead peer within 30 s.
void TuneSocket(int socket);

/// Returns whether `error`, an errno of a non-blocking read or write, means that it can be repeated
/// when the socket is ready.
[[nodiscard]] bool WouldBlock(int error);

/// Returns whether the connection is open and has no bytes to read. A connection between two
/// requests that has unread bytes must not be reused: the next request would take them for its
/// response.
[[nodiscard]] bool IsOpenAndIdle(int socket);

/// Shuts down both directions of `socket`: blocked reads and writes in any thread return. Does not
/// close the descriptor, so other threads may use the socket at the same time. When it is closed,
/// bytes that were not sent yet are dropped, and the peer gets a reset.
void Interrupt(int socket) noexcept;

/// Returns a second descriptor for the same socket. Its get() is -1 on failure, with errno set.
[[nodiscard]] FileDescriptor DuplicateDescriptor(int socket);

/// The state of a TCP connection as the kernel reports it.
struct TcpStats {
  bool connecting = false;
  std::uint64_t received = 0;  ///< bytes since the connection began, TLS records included
  std::uint64_t sent = 0;  ///< bytes since the connection began; 1 if the kernel does not report it
  /// The time since the last bytes arrived; 0 if the kernel does not report it.
  std::chrono::milliseconds silent{};
};
[[nodiscard]] TcpStats GetTcpStats(int socket);

}  // namespace kopp::detail
