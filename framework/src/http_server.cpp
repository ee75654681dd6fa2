#include "door.hpp"
#include "http_session.hpp"

#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <kopp/http_server.hpp>

namespace kopp {

namespace asio = boost::asio;
using asio::ip::tcp;

class HttpServer::Impl final : public detail::HttpSession::Host {
 public:
  Impl(HttpServerOptions options, Handlers handlers)
      : options_(std::move(options)),
        handlers_(std::move(handlers)),
        door_(io_, options_.address, options_.max_connections,
              {.enter = [this](tcp::socket socket) { Open(std::move(socket)); },
               .ask_to_leave = [](detail::HttpSession* session) { session->Close(); }}) {
    door_.Begin();
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

  [[nodiscard]] const tcp::endpoint& endpoint() const { return door_.endpoint(); }

  void Waits(detail::HttpSession& session) override { door_.Waits(&session); }
  void Works(detail::HttpSession& session) override { door_.Works(&session); }
  void Ended(detail::HttpSession& session) override {
    door_.Left(&session);
    sessions_.erase(&session);
  }
  [[nodiscard]] const Handlers& handlers() const override { return handlers_; }
  void Run(std::function<void()> work) override { asio::post(handlers_thread_, std::move(work)); }

 private:
  void Open(tcp::socket socket) {
    auto session = std::make_unique<detail::HttpSession>(std::move(socket), options_, *this);
    auto& opened = *session;
    sessions_.emplace(&opened, std::move(session));
    opened.Start();
  }

  const HttpServerOptions options_;
  const Handlers handlers_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  detail::Door<detail::HttpSession*> door_;
  std::unordered_map<detail::HttpSession*, std::unique_ptr<detail::HttpSession>> sessions_;
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
