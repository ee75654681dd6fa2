#include "transport/cpprest/cpprest_progress.hpp"

#include "transport_fixture.hpp"

#include <array>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kopp::testing {
namespace {

using detail::CpprestProgress;
using detail::FileDescriptor;
using namespace std::chrono_literals;

FileDescriptor ConnectionTo(const RawServer& server) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.port());
  ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return socket;
}

void Read(int socket, std::size_t count) {
  std::array<char, 16384> buffer{};
  for (std::size_t total = 0; total < count;) {
    const auto received = ::read(socket, buffer.data(), buffer.size());
    ASSERT_GT(received, 0);
    total += static_cast<std::size_t>(received);
  }
}

TimePoint In(Duration delay) { return Clock::Real().Now() + delay; }

TEST(CpprestProgressTest, BytesOfPreviousCallDoNotCountForNextCall) {
  const std::string large(300'000, 'x');
  RawServer server({{Send(large), Stall()}});
  const FileDescriptor socket = ConnectionTo(server);
  CpprestProgress progress(TransportOptions{}, false);
  progress.StartCall(In(kHangTimeout));
  progress.AttachNewSocket(socket.get(), nullptr);
  Read(socket.get(), large.size());
  progress.SetHead({.status = 200});
  progress.SetBodyComplete();
  progress.Finish();
  ASSERT_EQ(progress.WaitForResponse({})->status, 200);

  progress.StartCall(In(100ms));  // before cpprestsdk attaches a socket
  const std::jthread ender([&] {
    char byte = 0;
    EXPECT_EQ(::read(socket.get(), &byte, 1), 0);  // until WaitForResponse shuts the socket down
    progress.Finish();
  });

  EXPECT_EQ(FailureOf([&] { static_cast<void>(progress.WaitForResponse({})); }).kind,
            Kind::kTimeout);
}

TEST(CpprestProgressTest, SocketThatCannotBeDuplicatedFailsAsUnreachable) {
  constexpr int kNotOpen = -1;  // running out of descriptors would also fail, but UBSan needs some
  CpprestProgress progress(TransportOptions{}, false);
  progress.StartCall(In(kHangTimeout));

  const auto failure = FailureOf([&] { progress.AttachNewSocket(kNotOpen, nullptr); });

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
}

}  // namespace
}  // namespace kopp::testing
