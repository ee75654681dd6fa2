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

std::size_t ContentLength(std::string_view head) {
  constexpr std::string_view kName = "Content-Length: ";
  const auto position = head.find(kName);
  if (position == std::string_view::npos) return 0;
  return std::strtoul(head.data() + position + kName.size(), nullptr, 10);
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
  const timeval timeout{.tv_sec = kHangTimeout.count(), .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
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

RawClient::Response RawClient::Read(bool head_only) {
  std::size_t end = 0;
  while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
    if (!ReadMore()) return {};
  }
  Response response{.head = input_.substr(0, end + 2)};
  input_.erase(0, end + 4);
  EXPECT_EQ(response.head.rfind("HTTP/1.1 ", 0), 0U) << response.head;
  response.status = std::atoi(response.head.c_str() + response.head.find(' '));
  const std::size_t length = head_only ? 0 : ContentLength(response.head);
  while (input_.size() < length) {
    if (!ReadMore()) return {};
  }
  response.body = input_.substr(0, length);
  input_.erase(0, length);
  return response;
}

std::string RawClient::ReadToEnd() {
  while (ReadMore()) {
  }
  return input_;
}

bool RawClient::AwaitClose() {
  const auto deadline = std::chrono::steady_clock::now() + kHangTimeout;
  while (std::chrono::steady_clock::now() < deadline) {
    if (AwaitBytes() && !ReadMore()) return true;
  }
  return false;
}

bool RawClient::AwaitCloseWhileSending(std::string_view text) {
  const auto deadline = std::chrono::steady_clock::now() + kHangTimeout;
  while (std::chrono::steady_clock::now() < deadline) {
    Send(text);
    if (ReceivesWithin(std::chrono::milliseconds(5)) && !ReadMore()) return true;
  }
  return false;
}

bool RawClient::ReceivesWithin(std::chrono::milliseconds limit) const {
  pollfd poll{.fd = socket_, .events = POLLIN, .revents = 0};
  return ::poll(&poll, 1, static_cast<int>(limit.count())) > 0;
}

bool RawClient::ReadMore() {
  char bytes[65536];
  const auto received = ::recv(socket_, bytes, sizeof(bytes), 0);
  if (received > 0) input_.append(bytes, static_cast<std::size_t>(received));
  EXPECT_FALSE(received < 0 && errno == EAGAIN)
      << "no bytes arrived within " << kHangTimeout.count() << " s";
  return received > 0;
}

RawClient::Response Get(std::uint16_t port, std::string_view target) {
  RawClient client(port);
  client.SendGet(target);
  return client.Read();
}

}  // namespace kopp::testing
