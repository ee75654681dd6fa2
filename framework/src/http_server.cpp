#include "http_session.hpp"
#include "listener.hpp"
#include "socket.hpp"

#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <kopp/http_server.hpp>

namespace kopp {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Error = boost::system::error_code;

constexpr Duration kPause = std::chrono::milliseconds(100);  // when no connection can be taken

}  // namespace

class HttpServer::Impl final : public detail::HttpSession::Host {
 public:
  Impl(HttpServerOptions options, Handlers handlers)
      : options_(std::move(options)),
        handlers_(std::move(handlers)),
        acceptor_(detail::ListenAt(io_, options_.address)),
        endpoint_(acceptor_.local_endpoint()) {
    Accept();
    thread_ = std::jthread([this] { io_.run(); });
  }
  ~Impl() {
    io_.stop();
    thread_.join();
    handlers_thread_.stop();
    handlers_thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] const tcp::endpoint& endpoint() const { return endpoint_; }

  void Waits(detail::HttpSession& session) override {
    Works(session);
    waiting_.push_back(&session);
    Accept();
  }
  void Works(detail::HttpSession& session) override { std::erase(waiting_, &session); }
  void Ended(detail::HttpSession& session) override {
    Works(session);
    sessions_.erase(&session);
    making_room_ = false;
    Accept();
  }
  [[nodiscard]] const Handlers& handlers() const override { return handlers_; }
  void Run(std::function<void()> work) override { asio::post(handlers_thread_, std::move(work)); }

 private:
  [[nodiscard]] bool IsFull() const { return sessions_.size() >= options_.max_connections; }

  // Waits for the next client, if there is room for it or can be made.
  void Accept() {
    if (accepting_ || making_room_ || (IsFull() && waiting_.empty())) return;
    accepting_ = true;
    acceptor_.async_wait(tcp::acceptor::wait_read, [this](const Error& error) {
      accepting_ = false;
      if (!error) Take();
    });
  }

  void Take() {
    if (!IsFull()) {
      Error error;
      tcp::socket socket(io_);
      acceptor_.accept(socket, error);
      if (!error) {
        Open(std::move(socket));
      } else if (error != asio::error::would_block && error != asio::error::connection_aborted) {
        return Pause();  // out of descriptors, or of memory
      }
    } else if (!waiting_.empty()) {
      making_room_ = true;
      waiting_.front()->Close();
    }
    Accept();
  }

  void Open(tcp::socket socket) {
    detail::TuneSocket(socket.native_handle());
    auto session = std::make_unique<detail::HttpSession>(std::move(socket), options_, *this);
    auto& opened = *session;
    sessions_.emplace(&opened, std::move(session));
    opened.Start();
  }

  void Pause() {
    accepting_ = true;
    pause_.expires_after(kPause);
    pause_.async_wait([this](const Error&) {
      accepting_ = false;
      Accept();
    });
  }

  const HttpServerOptions options_;
  const Handlers handlers_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  asio::steady_timer pause_{io_};
  tcp::acceptor acceptor_;
  const tcp::endpoint endpoint_;
  bool accepting_ = false;    // it is known when the next client comes
  bool making_room_ = false;  // a session was closed for it and has not ended yet
  std::unordered_map<detail::HttpSession*, std::unique_ptr<detail::HttpSession>> sessions_;
  std::vector<detail::HttpSession*> waiting_;  // for their clients, the longest first
  asio::thread_pool handlers_thread_{1};
  std::jthread thread_;  // last: it uses everything above
};

HttpServer::HttpServer(HttpServerOptions options, Handlers handlers)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(handlers))) {}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const { return impl_->endpoint().port(); }

std::string HttpServer::address() const {
  const tcp::endpoint& endpoint = impl_->endpoint();
  const std::string host = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? '[' + host + ']' : host) + ':' + std::to_string(port());
}

}  // namespace kopp
