#pragma once

#include "net/http_message.hpp"
#include "net/server_connection.hpp"
#include "net/stream_sender.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/beast/http/parser.hpp>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// The limits of the bodies of requests for one target.
struct BodyLimits {
  std::size_t max = 0;                   ///< bytes of one body; 0: SessionLimits::max_body
  std::shared_ptr<ByteBudget> budget{};  ///< of all bodies together; null: no limit
};

/// The size and time limits of each connection of a server.
struct SessionLimits {
  std::size_t max_head = 64 << 10;  ///< bytes of a request's first line and headers
  std::size_t max_body = 64 << 10;  ///< bytes of a request's body
  /// Returns the limits for a target; may be empty. Called in the network thread.
  std::function<BodyLimits(std::string_view target)> body_limits_of{};
  Duration request_timeout = std::chrono::seconds(10);  ///< to receive a whole request
  Duration idle_timeout = std::chrono::seconds(60);     ///< until the next request begins
  Duration drain_timeout = std::chrono::seconds(5);     ///< to receive a whole request after Drain
  Duration write_timeout = std::chrono::seconds(10);    ///< to send a response
};

/// Serves HTTP/1.0 and 1.1 on one connection, one request after the other. Used in the network
/// thread only.
class HttpSession {
 public:
  using Id = std::uint64_t;

  /// The callbacks of a session. The owner of the session implements them.
  class Callbacks {
   public:
    /// The session waits for its client. It may be closed to make room for another connection.
    virtual void OnIdle(Id id) = 0;
    /// The session has received a request, or is sending a response.
    virtual void OnBusy(Id id) = 0;
    /// The session has received a request. Respond must be called once, later or in this call.
    virtual void OnRequest(Id id, IncomingRequest request) = 0;
    /// Returns the response to a request that the session rejects by itself. `target` is as
    /// sent, and may be incomplete if the status is neither 413 nor 429.
    virtual OutgoingResponse OnRejected(int status, const std::string& text,
                                        std::string_view target) = 0;
    /// The connection is closed. This is the last callback; it may destroy the session.
    virtual void OnClosed(Id id) = 0;

   protected:
    Callbacks() = default;
    ~Callbacks() = default;
    Callbacks(const Callbacks&) = default;
    Callbacks& operator=(const Callbacks&) = default;
  };

  /// `tls` is null for plain HTTP; it is used only during the call. `limits` and `callbacks` must
  /// outlive the session.
  HttpSession(Id id, boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls,
              const SessionLimits& limits, Callbacks& callbacks);

  /// Starts the TLS handshake, if any, and reads the first request.
  void Start();
  /// Sends the response to the request of the last OnRequest.
  void Respond(OutgoingResponse response);
  /// Sends the bytes that the BodyStream of the response has ready. Does nothing without a
  /// BodyStream.
  void Wake();
  /// Closes the connection after the next response, which has "Connection: close".
  void DisableKeepAlive() { reusable_ = false; }
  /// The same, but closes it now if it waits for another request of its client, and after
  /// SessionLimits::drain_timeout if it has not received one. A new connection is not closed at
  /// once: its client is about to send a request.
  void Drain();
  /// Closes the connection. OnClosed is called afterwards.
  void Close() { connection_.Close(); }
  /// Closes the connection with a TCP reset. OnClosed is called afterwards.
  void Reset() { connection_.Reset(); }

 private:
  using Error = boost::system::error_code;

  void WaitForRequest();
  void BeginRequest();
  void SetReceiveTimeout();
  void Receive();
  void Parse(std::string_view bytes);
  /// Removes the parsed bytes from `bytes`.
  void ParseFrom(std::string_view& bytes);
  void ReadBody(std::string_view& bytes);
  void Dispatch();
  void RejectMalformed(const Error& error);
  void RejectOverBudget();
  void Reject(int status, const std::string& text);
  void SendWhole(OutgoingResponse response);
  void SendStream(OutgoingResponse response);

  const Id id_;
  const SessionLimits& limits_;
  Callbacks& callbacks_;
  std::string unparsed_;  // received bytes that are not parsed yet
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  std::size_t head_size_ = 0;  // parsed bytes of the request head
  std::size_t max_body_ = 0;   // of the request
  HeldBytes held_;             // of the body, or for the response to it
  bool http10_ = false;        // the client uses HTTP/1.0
  bool keep_alive_ = false;    // another request may follow
  bool reusable_ = true;       // false: the next response is the last one
  bool waiting_ = false;       // for another request after a response
  bool receiving_ = false;     // a request, or its first byte on a new connection
  bool draining_ = false;
  bool head_only_ = false;  // the request is a HEAD
  ServerConnection connection_;
  std::optional<StreamSender> sender_;
};

}  // namespace kopp::detail
