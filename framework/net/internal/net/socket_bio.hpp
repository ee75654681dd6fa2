#pragma once

#include <openssl/bio.h>

namespace kopp::detail {

/// A non-blocking socket below a TLS session, with the state of its last read or write.
struct SocketIo {
  int socket = -1;
  int error = 0;  ///< errno of the last failure; 0: the peer closed the connection
  /// The last read returned all that had arrived, so the next one fails without a system call.
  /// Reset it when the socket has become readable.
  bool drained = false;
};

/// Returns a BIO that reads from and writes to `io`, which must outlive it. (OpenSSL's socket BIO
/// writes without MSG_NOSIGNAL: SIGPIPE would kill the process when the peer has closed the
/// connection.) Throws std::bad_alloc.
[[nodiscard]] BIO* NewSocketBio(SocketIo& io);

}  // namespace kopp::detail
