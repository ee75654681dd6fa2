#include "net/connection_limiter.hpp"

#include "listener.hpp"
#include "net/socket.hpp"

#include <chrono>
#include <utility>

namespace kopp::detail {

ConnectionLimiter::ConnectionLimiter(boost::asio::io_context& io, const std::string& address,
                                     std::size_t limit, Callbacks callbacks)
    : callbacks_(std::move(callbacks)),
      limit_(limit),
      acceptor_(ListenAt(io, address)),
      endpoint_(acceptor_.local_endpoint()),
      retry_(io) {}

void ConnectionLimiter::OnIdle(ConnectionId connection) {
  OnBusy(connection);
  idle_.push_back(connection);
  Accept();
}

void ConnectionLimiter::OnClosed(ConnectionId connection) {
  OnBusy(connection);
  --open_;
  evicting_ = false;
  Accept();
}

void ConnectionLimiter::StopListening() {
  stopped_ = true;
  Error ignored;
  acceptor_.close(ignored);
}

void ConnectionLimiter::ResumeListening() {
  stopped_ = false;
  Listen();
}

void ConnectionLimiter::Listen() {
  if (acceptor_.is_open()) return;
  const bool both_families = endpoint_.address().is_v6() && endpoint_.address().is_unspecified();
  if (!detail::Listen(acceptor_, endpoint_, both_families)) return Accept();
  Error ignored;
  acceptor_.close(ignored);
  RetryLater();  // another program listens at the endpoint
}

// Waits for the next client if there is room for it, or if a connection can be evicted.
void ConnectionLimiter::Accept() {
  if (!acceptor_.is_open() || accepting_ || evicting_ || (IsFull() && idle_.empty())) return;
  accepting_ = true;
  acceptor_.async_wait(Socket::wait_read, [this](const Error& error) {
    accepting_ = false;
    error ? Accept() : AcceptOrEvict();
  });
}

void ConnectionLimiter::AcceptOrEvict() {
  if (!IsFull()) {
    Error error;
    Socket socket(acceptor_.get_executor());
    acceptor_.accept(socket, error);
    if (!error) {
      TuneSocket(socket.native_handle());
      ++open_;
      callbacks_.on_accept(std::move(socket));
    } else if (error != boost::asio::error::would_block &&
               error != boost::asio::error::connection_aborted) {
      return RetryLater();  // out of descriptors or memory
    }
  } else if (!idle_.empty()) {
    evicting_ = true;
    callbacks_.on_evict(idle_.front());
  }
  Accept();
}

void ConnectionLimiter::RetryLater() {
  accepting_ = true;
  retry_.expires_after(std::chrono::milliseconds(100));
  retry_.async_wait([this](const Error& error) {
    if (error) return;  // superseded by a later retry
    accepting_ = false;
    if (!stopped_) Listen();
    Accept();
  });
}

}  // namespace kopp::detail
