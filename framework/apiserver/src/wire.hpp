#pragma once

#include "users.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <kopp/workqueue/clock.hpp>

namespace kopp::apiserver {

/// A server's end of one connection, with TLS or without. In the network's thread.
///
/// One read and one write may be under way at a time. What each is to go on with is called once it
/// is done; when it fails or has no time left, the wire closes, and nothing is called but `ended`.
class Wire {
 public:
  using Then = std::function<void(std::size_t)>;

  /// `tls` is null for plain HTTP, and outlives the wire. `ended` is called once, when the wire is
  /// closed and nothing is under way on it: it may be destroyed from then on.
  Wire(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls,
       std::function<void()> ended);
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// First of all. A client that sends plain HTTP where TLS is spoken is told so.
  void Start(std::function<void()> then);
  [[nodiscard]] const Peer& peer() const { return peer_; }

  /// What begins from now on has this long, together.
  void Within(Duration limit) { stream_.expires_after(limit); }
  void WithoutLimit() { stream_.expires_never(); }

  void Read(boost::asio::mutable_buffer into, Then then);
  /// All of `bytes`.
  void Write(std::string bytes, Then then);

  /// Drops what comes from now on, and closes at its end.
  void Ignore();
  /// Closes once the client has closed too, or has had 2 s: closing with bytes unread would take
  /// back the answer that it has not read yet.
  void Finish();
  void Close();
  /// Closes as a crash would (RST).
  void Cut();
  /// Likewise, but not before the client's side has all that was written, or 2 s have passed.
  void CutWhenTaken();

 private:
  using Error = boost::system::error_code;

  /// What goes on with `then` unless the wire is closed; it counts as under way until then.
  template <class Next>
  auto UnderWay(Next then);
  void Handshake();
  void SayHttps();
  void HalfClose();
  void CutWhenTaken(TimePoint latest);

  boost::beast::tcp_stream stream_;
  std::optional<boost::asio::ssl::stream<boost::beast::tcp_stream&>> tls_;
  boost::asio::steady_timer pause_;
  std::function<void()> ended_;  // empty when it was called
  std::function<void()> ready_;
  Peer peer_;
  int under_way_ = 0;
  bool closed_ = false;
  std::string writing_;  // until it is written
  std::array<char, 4096> dropped_{};
};

}  // namespace kopp::apiserver
