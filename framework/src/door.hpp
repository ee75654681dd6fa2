#pragma once

#include "listener.hpp"
#include "socket.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace kopp::detail {

/// Where a server lets its clients in: at most so many at once. When it is full, the one who has
/// been idle for the longest is sent away for the next.
///
/// `Guest` is how the server calls one of its connections, such as a pointer. All in the thread of
/// the io_context, but the constructor, endpoint(), and a Begin before that thread runs.
template <typename Guest>
class Door {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Endpoint = boost::asio::ip::tcp::endpoint;

  struct Host {
    std::function<void(Socket)> enter{};        ///< takes one in: Left follows some day
    std::function<void(Guest)> ask_to_leave{};  ///< Left follows soon
  };

  /// Listens at `address`, as ListenAt does, and lets nobody in before Begin. Throws ConfigError.
  Door(boost::asio::io_context& io, const std::string& address, std::size_t room, Host host)
      : host_(std::move(host)),
        room_(room),
        acceptor_(ListenAt(io, address)),
        endpoint_(acceptor_.local_endpoint()),
        pause_(io) {}
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

  void Begin() { Accept(); }

  /// The guest has nothing to do from now on: it may be asked to leave.
  void Waits(Guest guest) {
    Works(guest);
    waiting_.push_back(guest);
    Accept();
  }
  void Works(Guest guest) { std::erase(waiting_, guest); }
  void Left(Guest guest) {
    Works(guest);
    --inside_;
    making_room_ = false;
    Accept();
  }

  /// Nobody can reach the door any more, who is inside stays.
  void Close() {
    shut_ = true;
    acceptor_.close();
  }
  /// Listens again at the same endpoint, as soon as no other program does.
  void Open() {
    shut_ = false;
    Listen();
  }

 private:
  using Error = boost::system::error_code;

  [[nodiscard]] bool IsFull() const { return inside_ >= room_; }
  void Listen();
  void Accept();
  void Take();
  void Pause();

  const Host host_;
  const std::size_t room_;
  boost::asio::ip::tcp::acceptor acceptor_;
  const Endpoint endpoint_;
  boost::asio::steady_timer pause_;  // until the next try, when no client can be taken
  std::size_t inside_ = 0;
  std::vector<Guest> waiting_;  // the longest first
  bool accepting_ = false;      // it is known when the next client comes
  bool making_room_ = false;    // one was asked to leave and has not left yet
  bool shut_ = false;
};

template <typename Guest>
void Door<Guest>::Listen() {
  if (acceptor_.is_open()) return;
  const bool both_families = endpoint_.address().is_v6() && endpoint_.address().is_unspecified();
  if (!detail::Listen(acceptor_, endpoint_, both_families)) return Accept();
  Error ignored;
  acceptor_.close(ignored);
  Pause();  // somebody else is there
}

// Waits for the next client, if there is room for it or can be made.
template <typename Guest>
void Door<Guest>::Accept() {
  if (!acceptor_.is_open() || accepting_ || making_room_ || (IsFull() && waiting_.empty())) {
    return;
  }
  accepting_ = true;
  acceptor_.async_wait(Socket::wait_read, [this](const Error& error) {
    accepting_ = false;
    error ? Accept() : Take();
  });
}

template <typename Guest>
void Door<Guest>::Take() {
  if (!IsFull()) {
    Error error;
    Socket socket(acceptor_.get_executor());
    acceptor_.accept(socket, error);
    if (!error) {
      TuneSocket(socket.native_handle());
      ++inside_;
      host_.enter(std::move(socket));
    } else if (error != boost::asio::error::would_block &&
               error != boost::asio::error::connection_aborted) {
      return Pause();  // out of descriptors, or of memory
    }
  } else if (!waiting_.empty()) {
    making_room_ = true;
    host_.ask_to_leave(waiting_.front());
  }
  Accept();
}

template <typename Guest>
void Door<Guest>::Pause() {
  accepting_ = true;
  pause_.expires_after(std::chrono::milliseconds(100));
  pause_.async_wait([this](const Error& error) {
    if (error) return;  // another pause has begun
    accepting_ = false;
    if (!shut_) Listen();
    Accept();
  });
}

}  // namespace kopp::detail
