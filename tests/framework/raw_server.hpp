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

/// One thing that a RawServer does on a connection.
struct Step {
  enum class What {
    kReadRequest,  ///< records it; the connection's script ends when none comes
    kReadHead,     ///< likewise, and leaves the body unread
    kEcho,         ///< answers with the target of the request that was read last
    kSend,
    kDribble,  ///< byte by byte
    kFlood,    ///< sends `bytes` again and again, until the other side is gone
    kAwait,    ///< waits until the test calls Proceed
    kStall,    ///< waits until the test ends
    kCutOff,   ///< closes without TLS's goodbye
    kClose,    ///< closes in order
    kReset,    ///< closes with RST
    kAgain,    ///< begins the script anew
  };
  What what = What::kSend;
  std::string bytes{};
};
using Script = std::vector<Step>;

[[nodiscard]] inline Step ReadRequest() { return {.what = Step::What::kReadRequest}; }
[[nodiscard]] inline Step ReadHead() { return {.what = Step::What::kReadHead}; }
[[nodiscard]] inline Step Echo() { return {.what = Step::What::kEcho}; }
[[nodiscard]] inline Step Send(std::string bytes) {
  return {.what = Step::What::kSend, .bytes = std::move(bytes)};
}
[[nodiscard]] inline Step Dribble(std::string bytes) {
  return {.what = Step::What::kDribble, .bytes = std::move(bytes)};
}
[[nodiscard]] inline Step Flood(std::string bytes) {
  return {.what = Step::What::kFlood, .bytes = std::move(bytes)};
}
[[nodiscard]] inline Step Await() { return {.what = Step::What::kAwait}; }
[[nodiscard]] inline Step Stall() { return {.what = Step::What::kStall}; }
[[nodiscard]] inline Step CutOff() { return {.what = Step::What::kCutOff}; }
[[nodiscard]] inline Step Close() { return {.what = Step::What::kClose}; }
[[nodiscard]] inline Step Reset() { return {.what = Step::What::kReset}; }
[[nodiscard]] inline Step Again() { return {.what = Step::What::kAgain}; }

/// Answers with `body` and a Content-Length.
[[nodiscard]] std::string Answer(int status, const std::string& body,
                                 const std::string& headers = "");
/// The head of an answer in chunks, and one of its chunks.
[[nodiscard]] std::string ChunkedHead(int status = 200);
[[nodiscard]] std::string Chunk(const std::string& bytes);

/// Answers `answer` to each request, for as long as the connection lasts.
[[nodiscard]] Script Always(const std::string& answer);

/// A server on loopback that does to its clients what a script says, however wrong.
///
/// The first connection is served by the first script, and so on; the last script serves all that
/// follow. Each connection has a thread; all end with the server.
class RawServer {
 public:
  struct Tls {
    Identity identity{};
    std::string client_authority{};  ///< where set, clients must show a certificate of its
  };
  struct Request {
    std::size_t connection = 0;  ///< the first is 0
    std::string head{};          ///< without the empty line
    std::string body{};
    std::string client{};       ///< the common name of the client's certificate
    std::string server_name{};  ///< what the client said in the handshake (SNI)
  };

  explicit RawServer(std::vector<Script> scripts, std::optional<Tls> tls = std::nullopt,
                     const std::string& address = "127.0.0.1", std::uint16_t port = 0);
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  /// "http://127.0.0.1:41234", or https.
  [[nodiscard]] std::string Url(const std::string& host = "127.0.0.1") const;
  [[nodiscard]] std::uint16_t port() const { return port_; }

  [[nodiscard]] std::vector<Request> Requests() const;
  [[nodiscard]] std::size_t Connections() const;

  /// Block until there are so many, and fail the test when that takes 5 s.
  void AwaitRequests(std::size_t count);
  void AwaitConnections(std::size_t count);
  void AwaitFinished(std::size_t count);  ///< connections that are closed on this side
  void AwaitSent();                       ///< a script at rest (kStall) behind all that it sends

  /// Lets one script pass its kAwait.
  void Proceed();

 private:
  class Peer;
  void Accept();
  void Serve(std::size_t index, int socket);
  void Run(Peer& peer, const Script& script);
  bool Take(Peer& peer, const Step& step);
  bool Receive(Peer& peer, bool whole);
  void Wait(const char* what, const std::size_t& counter, std::size_t count);

  std::vector<Script> scripts_;
  bool tls_ = false;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{nullptr, &SSL_CTX_free};
  int listener_ = -1;
  std::uint16_t port_ = 0;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool ending_ = false;
  std::size_t passes_ = 0;
  std::size_t connections_ = 0;
  std::size_t finished_ = 0;
  std::size_t stalled_ = 0;
  std::size_t received_ = 0;
  std::vector<Request> requests_;
  std::vector<int> sockets_;  // open ones

  std::vector<std::jthread> threads_;  // of connections; touched by acceptor_ alone until it ends
  std::jthread acceptor_;
};

/// A listener that never accepts and whose queue is full: attempts to connect are not answered.
class FullListener {
 public:
  FullListener();
  ~FullListener();
  FullListener(const FullListener&) = delete;
  FullListener& operator=(const FullListener&) = delete;

  [[nodiscard]] std::string Url() const;

 private:
  std::uint16_t port_ = 0;
  std::vector<int> sockets_;  // the listener and those that wait to be accepted
};

}  // namespace kopp::testing
