#include "../../framework/src/rest_progress.hpp"
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

using detail::Descriptor;
using detail::RestProgress;
using namespace std::chrono_literals;

Descriptor ConnectionTo(const RawServer& server) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.port());
  ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return socket;
}

void Read(int socket, std::size_t count) {
  std::array<char, 16384> part{};
  for (std::size_t all = 0; all < count;) {
    const auto got = ::read(socket, part.data(), part.size());
    ASSERT_GT(got, 0);
    all += static_cast<std::size_t>(got);
  }
}

TimePoint Soon() { return Clock::Real().Now() + 100ms; }

TEST(RestProgressTest, WhatCameForTheCallBeforeIsNotCountedForTheNext) {
  const std::string large(300'000, 'x');
  RawServer server({{Send(large), Stall()}});
  const Descriptor socket = ConnectionTo(server);
  RestProgress progress(TransportOptions{}, false);
  progress.Begin(Soon());
  progress.AdoptNew(socket.get(), nullptr);
  Read(socket.get(), large.size());
  progress.TakeHead({.status = 200});
  progress.Complete();
  progress.End();
  ASSERT_EQ(progress.Await({})->status, 200);

  progress.Begin(Soon());  // and cpprestsdk is slow to adopt a connection
  const std::jthread ender([&] {
    char byte = 0;
    EXPECT_EQ(::read(socket.get(), &byte, 1), 0);  // until Await gives up
    progress.End();
  });

  EXPECT_EQ(FailureOf([&] { static_cast<void>(progress.Await({})); }).kind, Kind::kTimeout);
}

TEST(RestProgressTest, ASocketThatCannotBeDuplicatedMakesTheServerUnreachable) {
  constexpr int kNotOpen = -1;  // no descriptor left would fail alike, but UBSan needs some itself
  RestProgress progress(TransportOptions{}, false);
  progress.Begin(Soon());

  const auto failure = FailureOf([&] { progress.AdoptNew(kNotOpen, nullptr); });

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
}

}  // namespace
}  // namespace kopp::testing
