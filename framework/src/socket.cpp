#include "socket.hpp"

#include <cerrno>

#include <fcntl.h>
#include <linux/tcp.h>  // for its tcp_info, which counts bytes; <netinet/tcp.h> has an older one
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kopp::detail {
namespace {

void SetOption(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof(value));
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

void TuneSocket(int socket) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  SetOption(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  SetOption(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

bool IsQuiet(int socket) {
  char byte = 0;
  const auto got = ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void Interrupt(int socket) noexcept { ::shutdown(socket, SHUT_RDWR); }

Descriptor Duplicate(int socket) { return Descriptor(::fcntl(socket, F_DUPFD_CLOEXEC, 0)); }

TcpProgress ProgressOf(int socket) {
  tcp_info info{};
  info.tcpi_bytes_sent = 1;  // stays so under a kernel that does not count it
  socklen_t length = sizeof(info);
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {.sent = 1};
  constexpr std::uint8_t kSynSent = 2;  // TCP_SYN_SENT of <netinet/tcp.h>
  return {.connecting = info.tcpi_state == kSynSent,
          .received = info.tcpi_bytes_received,
          .sent = info.tcpi_bytes_sent};
}

}  // namespace kopp::detail
