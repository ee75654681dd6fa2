#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <kopp/http_server.hpp>

namespace kopp::detail {

/// A server's end of one connection: a request comes in, is answered, and the next may follow.
///
/// All in the network's thread. There is always exactly one thing under way: a read, a write or a
/// handler. The last of them tells the host that the session has ended.
class HttpSession {
 public:
  /// The server that the session belongs to.
  class Host {
   public:
    /// It is the client's turn, from now on: Close may be called to make room.
    virtual void Waits(HttpSession& session) = 0;
    /// It is ours.
    virtual void Works(HttpSession& session) = 0;
    /// Over: the session may be destroyed in this call.
    virtual void Ended(HttpSession& session) = 0;

    [[nodiscard]] virtual const HttpServer::Handlers& handlers() const = 0;
    /// Runs `work` in the handlers' thread.
    virtual void Run(std::function<void()> work) = 0;

   protected:
    Host() = default;
    ~Host() = default;
    Host(const Host&) = default;
    Host& operator=(const Host&) = default;
  };

  HttpSession(boost::asio::ip::tcp::socket socket, const HttpServerOptions& options, Host& host);
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void Start() { ReadRequest(); }

  /// Breaks off what is under way; Ended follows.
  void Close() { stream_.close(); }

 private:
  using Error = boost::beast::error_code;

  void AwaitRequest();
  void ReadRequest();
  void TakeRequest(const Error& error);
  void Dispatch();
  void Call(const HttpServer::Handler& handler, std::string query);
  void Refuse(int status, std::string_view text);
  void Send(HttpAnswer answer, std::string_view more_headers = {});
  void Linger();
  void Drain();

  const HttpServerOptions& options_;
  Host& host_;
  boost::beast::flat_buffer buffer_;  // what came and no parser has taken yet
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  bool head_only_ = false;   // HEAD
  bool keep_alive_ = false;  // another request may follow
  std::string head_;         // of the answer
  HttpAnswer answer_;
  boost::beast::tcp_stream stream_;  // last: what is under way uses the above
};

}  // namespace kopp::detail
