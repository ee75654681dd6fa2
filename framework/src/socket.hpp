#pragma once

#include <cstdint>
#include <utility>

namespace kopp::detail {

/// A descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_ = -1;
};

/// What every socket of ours is given: no delay for small requests, a dead peer noticed within 30
/// s, and no inheritance by programs that we start.
void TuneSocket(int socket);

/// Whether an idle connection is still good: neither closed nor holding bytes that nobody asked
/// for, which the next request would take for its answer.
[[nodiscard]] bool IsQuiet(int socket);

/// Ends what is under way on `socket`, in whichever thread. Closes nothing, so it is safe beside a
/// thread that uses the socket.
void Interrupt(int socket) noexcept;

/// A second descriptor of the same socket, for those who do not own the first.
[[nodiscard]] Descriptor Duplicate(int socket);

struct TcpProgress {
  bool connecting = false;
  std::uint64_t received = 0;  ///< bytes in the connection's life, of TLS where there is TLS
  std::uint64_t sent = 0;      ///< likewise; not 0 where the kernel does not tell
};
[[nodiscard]] TcpProgress ProgressOf(int socket);

}  // namespace kopp::detail
