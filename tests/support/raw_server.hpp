#pragma once

#include "certificates.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <openssl/ssl.h>

namespace kopp::testing {

/// One action of a RawServer on a connection.
struct Step {
  enum class Type {
    kReadRequest,      ///< reads and records a request; the script ends if none arrives
    kReadRequestHead,  ///< like kReadRequest, but leaves the body unread
    kReadBytes,       ///< reads and records, as the head of a request, as many bytes as `bytes` has
    kStartTls,        ///< performs the TLS handshake, instead of at the start of the connection;
                      ///< behind an https:// proxy (Tls::proxy) inside its TLS session
    kEchoTarget,      ///< responds with the target of the last request as the body
    kSend,            ///< sends `bytes`
    kSendByteByByte,  ///< sends `bytes` in writes of one byte
    kSendUntilClosed,  ///< sends `bytes` repeatedly until the client closes the connection
    kWaitForProceed,   ///< blocks until the test calls Proceed
    kStall,            ///< blocks until the server is destroyed
    kCloseAbruptly,    ///< closes the socket without a TLS close_notify
    kClose,            ///< closes in order, with a TLS close_notify
    kReset,            ///< closes with a TCP reset
    kRepeat,           ///< starts the script again
  };
  Type type = Type::kSend;
  std::string bytes{};
};
using Script = std::vector<Step>;

[[nodiscard]] inline Step ReadRequest() { return {.type = Step::Type::kReadRequest}; }
[[nodiscard]] inline Step ReadRequestHead() { return {.type = Step::Type::kReadRequestHead}; }
[[nodiscard]] inline Step ReadBytes(std::size_t count) {
  return {.type = Step::Type::kReadBytes, .bytes = std::string(count, ' ')};
}
[[nodiscard]] inline Step StartTls() { return {.type = Step::Type::kStartTls}; }
[[nodiscard]] inline Step EchoTarget() { return {.type = Step::Type::kEchoTarget}; }
[[nodiscard]] inline Step Send(std::string bytes) {
  return {.type = Step::Type::kSend, .bytes = std::move(bytes)};
}
[[nodiscard]] inline Step SendByteByByte(std::string bytes) {
  return {.type = Step::Type::kSendByteByByte, .bytes = std::move(bytes)};
}
[[nodiscard]] inline Step SendUntilClosed(std::string bytes) {
  return {.type = Step::Type::kSendUntilClosed, .bytes = std::move(bytes)};
}
[[nodiscard]] inline Step WaitForProceed() { return {.type = Step::Type::kWaitForProceed}; }
[[nodiscard]] inline Step Stall() { return {.type = Step::Type::kStall}; }
[[nodiscard]] inline Step CloseAbruptly() { return {.type = Step::Type::kCloseAbruptly}; }
[[nodiscard]] inline Step Close() { return {.type = Step::Type::kClose}; }
[[nodiscard]] inline Step Reset() { return {.type = Step::Type::kReset}; }
[[nodiscard]] inline Step Repeat() { return {.type = Step::Type::kRepeat}; }

/// Returns a response with `body` and a Content-Length. `headers` are complete lines with line
/// ends.
[[nodiscard]] std::string MakeResponse(int status, const std::string& body,
                                       const std::string& headers = "");
/// Returns the head of a chunked response.
[[nodiscard]] std::string ChunkedResponseHead(int status = 200);
/// Returns one chunk of a chunked response.
[[nodiscard]] std::string Chunk(const std::string& bytes);

/// Sends `response` to each request until the client closes the connection.
[[nodiscard]] Script AlwaysRespond(const std::string& response);

/// A server on loopback that runs a script on each connection, for example to send malformed
/// responses.
///
/// The first script serves the first connection, and so on; the last script serves all further
/// connections. Each connection has a thread. The destructor closes all connections and joins the
/// threads. Thread-safe.
class RawServer {
 public:
  struct Tls {
    CertificateAndKey identity{};
    std::string client_authority{};  ///< if set, clients must present a certificate issued by it
    /// If set, the identity of the https:// proxy that the server plays: each connection starts
    /// with a TLS handshake with it.
    CertificateAndKey proxy{};
  };
  struct Request {
    std::size_t connection = 0;  ///< the index of the connection, starting at 0
    std::string head{};          ///< the request line and the headers, without the empty line
    std::string body{};
    std::string client{};       ///< the common name of the client's certificate
    std::string server_name{};  ///< the SNI of the TLS handshake
  };

  explicit RawServer(std::vector<Script> scripts, std::optional<Tls> tls = std::nullopt,
                     const std::string& address = "127.0.0.1", std::uint16_t port = 0);
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  /// Returns "http://127.0.0.1:41234", or an https URL for a server with TLS.
  [[nodiscard]] std::string Url(const std::string& host = "127.0.0.1") const;
  [[nodiscard]] std::uint16_t port() const { return port_; }

  [[nodiscard]] std::vector<Request> Requests() const;
  [[nodiscard]] std::size_t Connections() const;

  /// The Wait functions block until the server has seen `count` requests or connections. They fail
  /// the test after kHangTimeout.
  void WaitForRequests(std::size_t count);
  void WaitForConnections(std::size_t count);
  void WaitForClosedConnections(std::size_t count);  ///< connections that the server has closed
  /// Blocks until a script has reached kStall, and so has sent everything.
  void WaitForStall();

  /// Lets one script continue after its kWaitForProceed.
  void Proceed();

 private:
  class ServerConnection;
  void Accept();
  void Serve(std::size_t index, int socket);
  void RunScript(ServerConnection& connection, const Script& script);
  bool RunStep(ServerConnection& connection, const Step& step);
  bool RecordRequest(ServerConnection& connection, bool with_body);
  bool RecordBytes(ServerConnection& connection, std::size_t count);
  void Record(Request request);
  void WaitForCounter(const char* type, const std::size_t& counter, std::size_t count);

  std::vector<Script> scripts_;
  bool tls_ = false;
  using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
  Context context_{nullptr, &SSL_CTX_free};
  Context proxy_context_{nullptr, &SSL_CTX_free};
  int listener_ = -1;
  std::uint16_t port_ = 0;

  mutable std::mutex mutex_;  // guards the members below, except the threads
  std::condition_variable changed_;
  bool stopping_ = false;
  std::size_t proceed_tokens_ = 0;
  std::size_t connections_ = 0;
  std::size_t closed_ = 0;
  std::size_t stalled_ = 0;
  std::size_t received_ = 0;
  std::vector<Request> requests_;
  std::vector<int> sockets_;  // the sockets of the open connections

  // The threads of the connections. Until acceptor_ has ended, only its thread uses this vector.
  std::vector<std::jthread> threads_;
  std::jthread acceptor_;
};

/// A listener that never accepts and whose backlog is full, so that connecting to it times out.
class FullListener {
 public:
  FullListener();
  ~FullListener();
  FullListener(const FullListener&) = delete;
  FullListener& operator=(const FullListener&) = delete;

  [[nodiscard]] std::string Url() const;

 private:
  std::uint16_t port_ = 0;
  std::vector<int> sockets_;  // the listener and the connections in its backlog
};

}  // namespace kopp::testing
