#include "net/connection.hpp"

#include "net/name_lookup.hpp"
#include "net/socket.hpp"
#include "support/hang_timeout.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {
namespace {

using namespace std::chrono_literals;

/// A socket that listens on loopback.
class LoopbackListener {
 public:
  LoopbackListener() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address_.length = sizeof address;
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_.get(), 1), 0);
    EXPECT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address_.storage),
                            &address_.length),
              0);
  }
  [[nodiscard]] const Address& address() const { return address_; }
  /// Blocks until a client has connected.
  [[nodiscard]] FileDescriptor Accept() const {
    return FileDescriptor(::accept(socket_.get(), nullptr, nullptr));
  }

 private:
  FileDescriptor socket_;
  Address address_;
};

/// Returns the descriptor of this process that is connected to `address`, or -1.
int DescriptorConnectedTo(const Address& address) {
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    sockaddr_in peer{};
    socklen_t length = sizeof peer;
    if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) == 0 &&
        std::memcmp(&peer, &address.storage, address.length) == 0) {
      return descriptor;
    }
  }
  return -1;
}

int TcpOption(int descriptor, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  EXPECT_EQ(::getsockopt(descriptor, IPPROTO_TCP, name, &value, &length), 0);
  return value;
}

/// Reads until the end of the connection. Returns 0 if it was closed in order, else errno.
int ErrorAtEnd(const FileDescriptor& socket) {
  std::array<char, 256> buffer{};
  for (;;) {
    const auto received = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (received <= 0) return received == 0 ? 0 : errno;
  }
}

// The kernel would send the rest of a connection that is closed in order, for minutes if the
// network is down. A reset drops it.
TEST(ConnectionTest, AnInterruptedConnectionDropsTheBytesThatWereNotSentYet) {
  const LoopbackListener listener;
  std::optional<Connection> connection(std::in_place, listener.address());
  connection->WaitUntilConnected(Clock::Real().Now() + testing::kHangTimeout);
  const FileDescriptor server = listener.Accept();
  const std::string more_than_the_kernel_buffers(std::size_t{16} << 20U, 'x');
  EXPECT_THROW(connection->Write(more_than_the_kernel_buffers, Clock::Real().Now() + 10ms),
               TransportError);

  connection->Interrupt();
  connection.reset();

  EXPECT_EQ(ErrorAtEnd(server), ECONNRESET);
}

TEST(ConnectionTest, AConnectionThatWasNotInterruptedIsClosedInOrder) {
  const LoopbackListener listener;
  std::optional<Connection> connection(std::in_place, listener.address());
  connection->WaitUntilConnected(Clock::Real().Now() + testing::kHangTimeout);
  const FileDescriptor server = listener.Accept();
  connection->Write("PATCH /", Clock::Real().Now() + testing::kHangTimeout);

  connection.reset();

  EXPECT_EQ(ErrorAtEnd(server), 0);
}

// The kernel does what these options say. A network that drops packets cannot be simulated without
// privileges.
TEST(ConnectionTest, AConnectionThatLosesItsPacketsFailsWithin30Seconds) {
  const LoopbackListener listener;
  Connection connection(listener.address());
  connection.WaitUntilConnected(Clock::Real().Now() + testing::kHangTimeout);
  const int descriptor = DescriptorConnectedTo(listener.address());
  ASSERT_GE(descriptor, 0);

  const int idle = TcpOption(descriptor, TCP_KEEPIDLE);
  const int probes = TcpOption(descriptor, TCP_KEEPCNT);
  EXPECT_LE(idle + probes * TcpOption(descriptor, TCP_KEEPINTVL), 30) << "a silent connection";
  EXPECT_EQ(TcpOption(descriptor, TCP_USER_TIMEOUT), 30'000) << "a request that is being sent";
  int keepalive = 0;
  socklen_t length = sizeof keepalive;
  ASSERT_EQ(::getsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &keepalive, &length), 0);
  EXPECT_EQ(keepalive, 1);
}

}  // namespace
}  // namespace kopp::detail
