#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/config.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// What is asked of the API server. `target` is the path with its query, percent-encoded already.
struct Request {
  std::string method = "GET";
  std::string target{};
  std::string body{};
  std::string content_type = "application/json";  ///< of `body`; sent only with one
  std::string accept = "application/json";
};

/// What came back. `body` is empty in the head of a stream whose status is 2xx.
struct Response {
  int status = 0;
  std::string body{};
  std::optional<Duration> retry_after{};  ///< the Retry-After header, where it gives seconds
  std::vector<std::string> warnings{};    ///< the texts of `Warning: 299` headers
};

/// No answer: the request may or may not have been carried out, unless `kind` tells.
/// what() says what was asked, of whom, what went wrong and, where known, what to do about it.
class TransportError : public std::runtime_error {
 public:
  enum class Kind {
    kUnreachable,  ///< no connection: unknown name, refused, no route; nothing was sent
    kUntrusted,  ///< the TLS handshake failed, over a certificate of either side; nothing was done
    kTimeout,    ///< a deadline passed
    kBroken,     ///< the connection ended in the middle
    kMalformed,  ///< the answer is not HTTP as we take it: bad chunk, header too long, a redirect
    kTooLarge,   ///< the answer's body is longer than allowed
    kCancelled,  ///< the stop token asked for it
  };
  TransportError(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  [[nodiscard]] Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// The body of an answer as it arrives. Used by one thread at a time; destroying it closes the
/// connection at once.
class Stream {
 public:
  enum class State {
    kBytes,   ///< `bytes` has some
    kEnd,     ///< the server ended the body in order
    kSilent,  ///< `limit` passed without a byte; the stream goes on and may be read again
  };
  struct Chunk {
    State state = State::kEnd;
    std::string_view bytes{};  ///< valid until the next Read
  };

  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Status and headers. Where the status is not 2xx, `body` holds the whole (bounded) body.
  [[nodiscard]] virtual const Response& head() const = 0;

  /// Blocks until bytes arrive, the body ends, `limit` passes or the stop token given to Open asks.
  /// Throws TransportError when the connection breaks (a body cut short is never kEnd) or on stop.
  virtual Chunk Read(Duration limit) = 0;

 protected:
  Stream() = default;
};

/// The one seam to the network: two verbs to the API server that the transport was made for.
///
/// Both block the caller, never for longer than the request's deadline, and both end at once when
/// `stop` asks. Safe to call from any number of threads. Neither follows a redirect, and neither
/// sends a request twice, except that a GET may be sent again on a fresh connection when a kept one
/// turns out to be closed. An HTTP status is an answer, not an error.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Sends `request` and returns the whole answer. Throws TransportError.
  virtual Response Call(const Request& request, std::stop_token stop = {}) = 0;

  /// Sends `request` on a connection of its own and returns once the head is there. `stop` also
  /// ends the stream's later reads. The transport outlives its streams. Throws TransportError.
  virtual std::unique_ptr<Stream> Open(const Request& request, std::stop_token stop = {}) = 0;

 protected:
  Transport() = default;
};

struct TransportOptions {
  enum class Calls {
    kCppRest,  ///< calls by cpprestsdk, streams by Boost.Beast
    kBeast,    ///< both by Boost.Beast
  };
  Calls calls = Calls::kCppRest;
  std::string user_agent = "kopp";
  Duration connect_timeout = std::chrono::seconds(5);     ///< name look-up and TCP, each
  Duration handshake_timeout = std::chrono::seconds(10);  ///< TLS
  Duration call_timeout = std::chrono::seconds(30);       ///< a Call in all; Open until its head
  std::size_t max_body = 64U << 20;                       ///< of a Call, in bytes
  Clock& clock = Clock::Real();                           ///< for rereading a token file
};

/// The transport to `config.server`. Where that is an IPv6 literal, or there is a tls_server_name,
/// calls go by Boost.Beast whatever `calls` says: cpprestsdk cannot connect to the one, and would
/// take the other for the host. Throws ConfigError for an address or credentials that cannot be
/// used.
[[nodiscard]] std::unique_ptr<Transport> MakeTransport(const Config& config,
                                                       const TransportOptions& options = {});

}  // namespace kopp
