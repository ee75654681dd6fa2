#pragma once

#include "exchange.hpp"
#include "feed_sender.hpp"
#include "http_text.hpp"
#include "users.hpp"
#include "wire.hpp"
#include "world.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>

#include <kopp/testing/api_server.hpp>

namespace kopp::apiserver {

/// What a server does on one connection: a request comes in, is answered, and the next may follow.
/// All in the network's thread.
class Session {
 public:
  using Id = std::uint64_t;

  /// The server that the sessions belong to.
  class Host {
   public:
    /// It is the client's turn from now on, or its answer is held back: Close may be called to make
    /// room.
    virtual void Waits(Id id) = 0;
    /// It is our turn.
    virtual void Works(Id id) = 0;
    /// Has `ask` answered in another thread; then the session, if it is still there, is given it.
    virtual void Answer(Id id, Ask ask) = 0;
    /// Has the session woken, if it is still there. From any thread.
    virtual void Wake(Id id) = 0;
    /// Likewise at a moment of the world's clock, instead of the last that was said.
    virtual void WakeAt(Id id, TimePoint when) = 0;
    /// Over: nothing of the session is called any more but its destructor.
    virtual void Ended(Id id) = 0;

    [[nodiscard]] virtual World& world() = 0;
    [[nodiscard]] virtual Users& users() = 0;
    [[nodiscard]] virtual const testing::ListenOptions& options() const = 0;

   protected:
    Host() = default;
    ~Host() = default;
    Host(const Host&) = default;
    Host& operator=(const Host&) = default;
  };

  /// `tls` is null for plain HTTP.
  Session(Id id, boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls, Host& host);

  void Start();
  void Take(Reply reply);
  void Wake();
  /// Breaks off what is under way.
  void Close() { wire_.Close(); }
  /// As a crash would.
  void Cut() { wire_.Cut(); }

 private:
  using Error = boost::system::error_code;

  void AwaitRequest();
  void ReadRequest();
  void Receive();
  void Parse();
  void ReadBody();
  void Dispatch();
  void RefuseAs(const Error& error);
  void Refuse(Reply reply);
  void Send();
  void SendFeed();
  void SendWhole();
  [[nodiscard]] HeadOptions Head() const;

  const Id id_;
  Host& host_;
  boost::beast::flat_buffer buffer_;  // what came and no parser has taken yet
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  std::size_t head_size_ = 0;  // of what was parsed
  bool http10_ = false;        // what the client speaks
  bool keep_alive_ = false;    // another request may follow
  bool head_only_ = false;     // HEAD
  std::string audit_id_;
  Reply reply_;
  std::optional<TimePoint> held_until_;  // the reply, by a mishap
  Wire wire_;
  std::optional<FeedSender> sender_;  // of a watch
};

}  // namespace kopp::apiserver
