#include "raw_client.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace kopp::testing {
namespace {

constexpr int kPatience = 5000;  // milliseconds

std::size_t ContentLength(std::string_view head) {
  constexpr std::string_view kName = "Content-Length: ";
  const auto at = head.find(kName);
  if (at == std::string_view::npos) return 0;
  return std::strtoul(head.data() + at + kName.size(), nullptr, 10);
}

}  // namespace

RawClient::RawClient(std::uint16_t port, const std::string& address) {
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  const bool is_v6 = ::inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1;
  if (!is_v6) ::inet_pton(AF_INET, address.c_str(), &v4.sin_addr);
  socket_ = ::socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{.tv_sec = kPatience / 1000, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  const int connected = is_v6 ? ::connect(socket_, reinterpret_cast<sockaddr*>(&v6), sizeof(v6))
                              : ::connect(socket_, reinterpret_cast<sockaddr*>(&v4), sizeof(v4));
  if (connected == 0) return;
  const int error = errno;
  ::close(socket_);
  throw std::system_error(error, std::generic_category(), "connecting to " + address);
}

RawClient::~RawClient() { ::close(socket_); }

bool RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void RawClient::SendGet(std::string_view target, std::string_view headers) {
  Send("GET " + std::string(target) + " HTTP/1.1\r\nHost: test\r\n" + std::string(headers) +
       "\r\n");
}

RawClient::Answer RawClient::Read(bool head_only) {
  std::size_t end = 0;
  while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
    if (!ReadMore()) return {};
  }
  Answer answer{.head = input_.substr(0, end + 2)};
  input_.erase(0, end + 4);
  EXPECT_EQ(answer.head.rfind("HTTP/1.1 ", 0), 0U) << answer.head;
  answer.status = std::atoi(answer.head.c_str() + answer.head.find(' '));
  const std::size_t length = head_only ? 0 : ContentLength(answer.head);
  while (input_.size() < length) {
    if (!ReadMore()) return {};
  }
  answer.body = input_.substr(0, length);
  input_.erase(0, length);
  return answer;
}

std::string RawClient::ReadToEnd() {
  while (ReadMore()) {
  }
  return input_;
}

bool RawClient::IsClosedWithin(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < deadline) {
    if (HearsWithin(std::chrono::milliseconds(1)) && !ReadMore()) return true;
  }
  return false;
}

bool RawClient::IsClosedWhileItSends(std::string_view text) {
  for (int i = 0; i < 1000; ++i) {
    Send(text);
    if (IsClosedWithin(std::chrono::milliseconds(5))) return true;
  }
  return false;
}

bool RawClient::HearsWithin(std::chrono::milliseconds limit) const {
  pollfd poll{.fd = socket_, .events = POLLIN, .revents = 0};
  return ::poll(&poll, 1, static_cast<int>(limit.count())) > 0;
}

// False at the end.
bool RawClient::ReadMore() {
  char bytes[65536];
  const auto got = ::recv(socket_, bytes, sizeof(bytes), 0);
  if (got > 0) input_.append(bytes, static_cast<std::size_t>(got));
  EXPECT_FALSE(got < 0 && errno == EAGAIN) << "nothing came in " << kPatience << " ms";
  return got > 0;
}

RawClient::Answer Get(std::uint16_t port, std::string_view target) {
  RawClient client(port);
  client.SendGet(target);
  return client.Read();
}

}  // namespace kopp::testing
