#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/config.hpp>
#include <kopp/transport_error.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// An HTTP request to the API server.
struct ApiRequest {
  std::string method = "GET";
  std::string target{};  ///< path and query, percent-encoded
  std::string body{};
  std::string content_type = "application/json";  ///< sent only if there is a body
  std::string accept = "application/json";
  std::string traceparent{};  ///< W3C trace context, see SpanContext::Traceparent; empty: not sent
  int attempt = 1;            ///< 1 for the first try; not sent. RetryingTransport sets it.
  /// If not empty, Call calls it immediately before the request is sent, for each try. If it
  /// throws, nothing is sent; of a TransportError, only the kind and the text are kept.
  std::function<void()> before_send{};
};

/// An HTTP response of the API server.
struct ApiResponse {
  int status = 0;
  std::string body{};                     ///< empty in Stream::head() if the status is 2xx
  std::optional<Duration> retry_after{};  ///< the Retry-After header, if it is valid
  std::vector<std::string> warnings{};    ///< the texts of `Warning: 299` headers
  std::string date{};                     ///< the Date header: see ParseHttpDate
};

/// A response whose body is read while it arrives. Not thread-safe. The destructor closes the
/// connection immediately.
class Stream {
 public:
  enum class State {
    kBytes,   ///< `bytes` is not empty
    kEnd,     ///< the body is complete
    kSilent,  ///< no byte arrived within `limit`; the stream stays open, and Read may be called
              ///< again
  };
  /// The result of Read.
  struct Chunk {
    State state = State::kEnd;
    std::string_view bytes{};  ///< valid until the next Read
  };

  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Returns status and headers. If the status is not 2xx, `body` holds the whole body.
  [[nodiscard]] virtual const ApiResponse& head() const = 0;

  /// Blocks until bytes arrive, the body ends, `limit` has passed, or a stop is requested by the
  /// token given to Open. Throws TransportError on a stop and if the connection breaks; an
  /// incomplete body is never reported as kEnd.
  virtual Chunk Read(Duration limit) = 0;

 protected:
  Stream() = default;
};

/// Sends HTTP requests to one API server. All network access of kopp as a client goes through this
/// interface, so that tests can replace it (see ScriptedTransport).
///
/// Thread-safe. Both functions block until the response has arrived, and throw TransportError
/// (kCancelled) as soon as a stop is requested. They do not follow redirects. A response with an
/// error status is returned, not thrown.
///
/// A transport of MakeTransport blocks at most for TransportOptions::call_timeout. It sends a
/// request once, except that it sends a GET again on a new connection if a reused connection turns
/// out to be closed, or gets no byte within a third of call_timeout. RetryingTransport and
/// RateLimitingTransport add retries and waits.
///
/// After a call that got no byte on a reused connection, the connections that were idle meanwhile
/// are closed. If new connections work and no older one does, the streams that were silent
/// meanwhile fail with kBroken, so that their readers open them again.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Sends `request` and returns the complete response. Throws TransportError, and
  /// std::invalid_argument for a request that is not valid HTTP.
  virtual ApiResponse Call(const ApiRequest& request, std::stop_token stop = {}) = 0;

  /// Sends `request` on a separate connection and returns when the response head has arrived.
  /// `stop` also cancels later reads of the stream. The transport must outlive its streams. Throws
  /// as Call does.
  virtual std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop = {}) = 0;

 protected:
  Transport() = default;
};

/// Returns a User-Agent in the format of Kubernetes programs:
/// "web-operator/v1.2 (linux/amd64) kopp/0.1". The API server takes `program` as the field manager
/// of a write without one. An empty `version` becomes "unknown".
[[nodiscard]] std::string UserAgent(std::string_view program, std::string_view version);

/// Options of MakeTransport.
struct TransportOptions {
  /// The HTTP library behind Transport::Call. Transport::Open always uses Boost.Beast.
  enum class Calls {
    kCppRest,  ///< cpprestsdk; available to programs that link kopp::cpprest
    kBeast,    ///< Boost.Beast
  };
  Calls calls = Calls::kBeast;
  std::string user_agent = "kopp";
  Duration connect_timeout = std::chrono::seconds(5);  ///< for each of name lookup and TCP connect
  /// For each TLS handshake, and for opening a tunnel through a proxy.
  Duration handshake_timeout = std::chrono::seconds(10);
  /// For a whole Call; for Open until the head. A GET on a reused connection that gets no byte for
  /// a third of it is sent again on a new connection: see "Retries and limits" in
  /// docs/connecting.md.
  Duration call_timeout = std::chrono::seconds(30);
  std::size_t max_body = 64U << 20;  ///< bytes of a Call's response body
  /// Decides when to read credential files and run plugins again. Must outlive the transport.
  Clock& clock = Clock::Real();
  /// Called with one line of text, once per problem: if a credential file or plugin cannot be used
  /// while the previous credentials stay in use, and if the library `calls` does not support the
  /// configuration, so that Boost.Beast is used. Calls come from MakeTransport, Call and Open, and
  /// may be concurrent.
  std::function<void(const std::string& problem)> on_warning{};
};

/// Creates a transport to `config.server`. Reads the files of the credentials; does not connect yet
/// and does not run a credential plugin. If the host is an IPv6 address, tls_server_name or
/// proxy_url is set, or a user is impersonated, Boost.Beast is used and `options.calls` is ignored:
/// cpprestsdk cannot connect to an IPv6 address, would send tls_server_name as the Host, cannot
/// supervise a connection to a proxy, and cannot send a header twice. Throws ConfigError if the
/// address, the proxy or the credentials cannot be used, or if cpprestsdk would be used and is not
/// available, and std::invalid_argument unless all timeouts are positive.
///
/// A transport must not be used, or destroyed, in a child process after fork().
///
/// An http:// server is reached through an HTTP proxy with ordinary requests, an https:// server
/// with CONNECT: the proxy sees only the host and port of the server. A SOCKS5 proxy connects to
/// either; it gets the name of the server and looks it up. The connection to an https:// proxy is
/// encrypted, too. Its certificate is verified with the CAs of the system only, for the host of
/// proxy_url: certificate_authority, tls_server_name, insecure_skip_tls_verify and the client
/// certificate are not for the proxy.
[[nodiscard]] std::unique_ptr<Transport> MakeTransport(const Config& config,
                                                       const TransportOptions& options = {});

}  // namespace kopp
