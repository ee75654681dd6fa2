#include "targets.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <kopp/transport.hpp>

namespace kopp::fuzz {
namespace {

/// A server on loopback that sends the same bytes as the response to each request, and closes the
/// connection. Its thread runs until the process ends.
class ResponseServer {
 public:
  ResponseServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, name, size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, name, &size) != 0) {
      throw std::system_error(errno, std::generic_category(), "cannot listen on loopback");
    }
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    std::thread([this] { Serve(); }).detach();
  }

  [[nodiscard]] const std::string& url() const { return url_; }
  /// Sets the bytes of the responses.
  void SetResponse(std::string_view bytes) {
    const std::lock_guard guard(mutex_);
    response_ = bytes;
  }

 private:
  void Serve() {
    for (;;) {
      const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) continue;
      if (ReadRequest(connection)) SendResponse(connection);
      ::close(connection);
    }
  }
  /// Returns whether a request without a body has arrived.
  static bool ReadRequest(int connection) {
    std::string request;
    std::array<char, 4096> buffer{};
    while (!request.ends_with("\r\n\r\n")) {
      const auto received = ::recv(connection, buffer.data(), buffer.size(), 0);
      if (received <= 0) return false;
      request.append(buffer.data(), static_cast<std::size_t>(received));
    }
    return true;
  }
  void SendResponse(int connection) {
    std::string bytes;
    {
      const std::lock_guard guard(mutex_);
      bytes = response_;
    }
    for (std::string_view rest = bytes; !rest.empty();) {
      const auto sent = ::send(connection, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // the client has rejected the response
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  int listener_;
  std::string url_;
  std::mutex mutex_;
  std::string response_;
};

/// The result of a request: status, body, Retry-After, warnings, and the error if there is one.
using Outcome = std::tuple<int, std::string, std::optional<Duration>, std::vector<std::string>,
                           std::optional<TransportError::Kind>>;

Outcome OutcomeOf(const ApiResponse& response) {
  return {response.status, response.body, response.retry_after, response.warnings, {}};
}

Outcome OutcomeOf(const TransportError& error) {
  const std::string text = error.what();
  const auto is_control = [](char c) { return c >= '\0' && c < ' '; };
  if (std::ranges::any_of(text, is_control)) throw Finding("not one line of text: " + text);
  return {0, "", {}, {}, error.kind()};
}

Outcome Call(Transport& transport) {
  try {
    return OutcomeOf(transport.Call({.target = "/api"}));
  } catch (const TransportError& error) {
    return OutcomeOf(error);
  }
}

/// Sends the same request with Transport::Open and reads the whole stream.
Outcome ReadStream(Transport& transport) {
  try {
    const auto stream = transport.Open({.target = "/api"});
    ApiResponse response = stream->head();
    for (;;) {
      const auto chunk = stream->Read(std::chrono::seconds(5));
      if (chunk.state == Stream::State::kEnd) return OutcomeOf(response);
      if (chunk.state == Stream::State::kSilent) throw Finding("no bytes and no end");
      response.body += chunk.bytes;
    }
  } catch (const TransportError& error) {
    return OutcomeOf(error);
  }
}

}  // namespace

void FuzzHttpResponse(std::string_view input) {
  static auto& server = *new ResponseServer;  // never destroyed: its thread uses it
  server.SetResponse(input);
  const auto transport = MakeTransport(
      {.server = server.url()}, {.calls = TransportOptions::Calls::kBeast, .max_body = 1 << 16});

  const Outcome called = Call(*transport);
  const Outcome streamed = ReadStream(*transport);

  // A stream has no limit for its body.
  if (called == streamed || std::get<4>(called) == TransportError::Kind::kTooLarge) return;
  throw Finding("Call and Open have different results: status " +
                std::to_string(std::get<0>(called)) + " and " +
                std::to_string(std::get<0>(streamed)) + ", body \"" + std::get<1>(called) +
                "\" and \"" + std::get<1>(streamed) + '"');
}

}  // namespace kopp::fuzz
