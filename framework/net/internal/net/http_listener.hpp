#pragma once

#include "net/connection_limiter.hpp"
#include "net/http_session.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>

namespace kopp::detail {

/// The HTTP server behind kopp::HttpServer, which adds routes, and behind the in-memory API server,
/// which adds users, audit ids and watches. Listens at an address and serves HTTP/1.1 over TCP or
/// TLS.
///
/// One network thread does all I/O and calls the handler. The handler must not block: it passes the
/// request to a thread of its own, which calls Respond.
class HttpListener final : private HttpSession::Callbacks {
 public:
  using ConnectionId = HttpSession::Id;

  struct Options {
    std::string address{};  ///< see ListenAt
    std::size_t max_connections = 64;
    SessionLimits limits{};
  };

  /// The callbacks of the listener. They are called in the network thread.
  class Handler {
   public:
    /// Called for each valid request. The handler must call Respond once for it, unless the
    /// connection closes before.
    virtual void OnRequest(ConnectionId id, IncomingRequest request) = 0;
    /// Returns the response to a request that is not valid HTTP, or too large.
    virtual OutgoingResponse OnRejected(int status, const std::string& text,
                                        std::string_view target) = 0;
    virtual void OnClosed(ConnectionId /*id*/) {}

   protected:
    Handler() = default;
    ~Handler() = default;
    Handler(const Handler&) = default;
    Handler& operator=(const Handler&) = default;
  };

  /// Listens, but serves only from Start to Stop. Throws ConfigError if it cannot listen. `handler`
  /// must exist until Stop returns.
  HttpListener(Options options, Handler& handler);
  ~HttpListener() { Stop(); }
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;

  [[nodiscard]] const boost::asio::ip::tcp::endpoint& endpoint() const {
    return limiter_.endpoint();
  }

  /// Starts the network thread. `tls` is null for plain HTTP. Call it once.
  void Start(std::unique_ptr<boost::asio::ssl::context> tls = nullptr);
  /// Ends the network thread and all connections, and stops listening. Does not wait for clients.
  void Stop();

  // The functions below are thread-safe. They do nothing for a closed connection.

  /// Sends the response to the last request of the connection.
  void Respond(ConnectionId id, OutgoingResponse response);
  /// Sends the bytes that the BodyStream of the connection has ready.
  void Wake(ConnectionId id);
  /// Uses `tls` for new connections. Open connections keep their certificate.
  void ReplaceTls(std::unique_ptr<boost::asio::ssl::context> tls);
  /// From now on, closes each connection after its next response. Still accepts connections.
  void DisableKeepAlive();
  /// Stops listening, closes connections that wait for another request, and the others after their
  /// next response. Calls `on_drained` in the network thread when none is open. Call it once.
  void Drain(std::function<void()> on_drained);
  /// Runs `work` in the network thread, after earlier posted work.
  template <typename F>
  void Post(F work) {
    boost::asio::post(io_, std::move(work));
  }
  [[nodiscard]] bool InNetworkThread() const { return io_.get_executor().running_in_this_thread(); }

  // The functions below must be called in the network thread.

  /// Allows the eviction of a connection that waits for its response.
  void AllowEviction(ConnectionId id) { limiter_.OnIdle(id); }
  [[nodiscard]] bool IsOpen(ConnectionId id) const { return sessions_.contains(id); }
  /// Resets all connections and refuses new ones until ResumeListening, as a crash would.
  void Crash();
  void ResumeListening() { limiter_.ResumeListening(); }

 private:
  void OnIdle(ConnectionId id) override { limiter_.OnIdle(id); }
  void OnBusy(ConnectionId id) override { limiter_.OnBusy(id); }
  void OnRequest(ConnectionId id, IncomingRequest request) override {
    handler_.OnRequest(id, std::move(request));
  }
  OutgoingResponse OnRejected(int status, const std::string& text,
                              std::string_view target) override {
    return handler_.OnRejected(status, text, target);
  }
  void OnClosed(ConnectionId id) override;

  void Accept(boost::asio::ip::tcp::socket socket);
  void ReportDrained();
  HttpSession* Find(ConnectionId id);

  const Options options_;
  Handler& handler_;
  mutable boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::unique_ptr<boost::asio::ssl::context> tls_;
  ConnectionLimiter limiter_;
  ConnectionId last_id_ = 0;
  bool keep_alive_ = true;
  std::function<void()> on_drained_;  // empty: not draining
  std::unordered_map<ConnectionId, std::unique_ptr<HttpSession>> sessions_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace kopp::detail
