#include "net/socket.hpp"

#include <cerrno>

#include <fcntl.h>
#include <linux/tcp.h>  // its tcp_info counts bytes; that of <netinet/tcp.h> is older
#include <netinet/in.h>
#include <sys/socket.h>

namespace kopp::detail {
namespace {

void SetOption(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof(value));
}

}  // namespace

void TuneSocket(int socket) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  SetOption(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  SetOption(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

bool IsOpenAndIdle(int socket) {
  char byte = 0;
  const auto received = ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void Interrupt(int socket) noexcept {
  // Without this, the kernel would continue to send a request that was cancelled while the network
  // was down: for minutes, also after the socket is closed.
  const linger discard{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &discard, sizeof(discard));
  ::shutdown(socket, SHUT_RDWR);
}

FileDescriptor DuplicateDescriptor(int socket) {
  return FileDescriptor(::fcntl(socket, F_DUPFD_CLOEXEC, 0));
}

TcpStats GetTcpStats(int socket) {
  tcp_info info{};
  info.tcpi_bytes_sent = 1;  // remains if the kernel does not report it
  socklen_t length = sizeof(info);
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {.sent = 1};
  constexpr std::uint8_t kSynSent = 2;  // TCP_SYN_SENT of <netinet/tcp.h>
  return {.connecting = info.tcpi_state == kSynSent,
          .received = info.tcpi_bytes_received,
          .sent = info.tcpi_bytes_sent,
          .silent = std::chrono::milliseconds(info.tcpi_last_data_recv)};
}

}  // namespace kopp::detail
