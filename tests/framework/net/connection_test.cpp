#include "net/connection.hpp"

#include "net/name_lookup.hpp"
#include "system/socket.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <netinet/in.h>
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
  connection->WaitUntilConnected(Clock::Real().Now() + 5s);
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
  connection->WaitUntilConnected(Clock::Real().Now() + 5s);
  const FileDescriptor server = listener.Accept();
  connection->Write("PATCH /", Clock::Real().Now() + 5s);

  connection.reset();

  EXPECT_EQ(ErrorAtEnd(server), 0);
}

}  // namespace
}  // namespace kopp::detail
