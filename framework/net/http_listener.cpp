#include "net/http_listener.hpp"

#include <utility>
#include <vector>

namespace kopp::detail {

using boost::asio::ip::tcp;

HttpListener::HttpListener(Options options, Handler& handler)
    : options_(std::move(options)),
      handler_(handler),
      limiter_(io_, options_.address, options_.max_connections,
               {.on_accept = [this](tcp::socket socket) { Accept(std::move(socket)); },
                .on_evict = [this](ConnectionId id) { Find(id)->Close(); }}) {}

void HttpListener::Start(std::unique_ptr<boost::asio::ssl::context> tls) {
  tls_ = std::move(tls);
  Post([this] { limiter_.Start(); });
  thread_ = std::jthread([this] { io_.run(); });
}

// Ends the network thread first: limiter_ and sessions_ are not thread-safe. Closes the sockets
// here, not in the destructor, so that no client waits for a handler that still runs.
void HttpListener::Stop() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
  limiter_.StopListening();
  sessions_.clear();
}

void HttpListener::Respond(ConnectionId id, OutgoingResponse response) {
  Post([this, id, response = std::move(response)]() mutable {
    if (HttpSession* session = Find(id)) session->Respond(std::move(response));
  });
}

void HttpListener::Wake(ConnectionId id) {
  Post([this, id] {
    if (HttpSession* session = Find(id)) session->Wake();
  });
}

// A session of OpenSSL shares the ownership of its SSL_CTX, so the context is not needed by open
// connections.
void HttpListener::ReplaceTls(std::unique_ptr<boost::asio::ssl::context> tls) {
  Post([this, tls = std::move(tls)]() mutable { tls_ = std::move(tls); });
}

void HttpListener::DisableKeepAlive() {
  Post([this] {
    keep_alive_ = false;
    for (const auto& [id, session] : sessions_) session->DisableKeepAlive();
  });
}

void HttpListener::Drain(std::function<void()> on_drained) {
  Post([this, on_drained = std::move(on_drained)]() mutable {
    limiter_.StopListening();
    on_drained_ = std::move(on_drained);
    std::vector<ConnectionId> open;  // a closed connection is erased from sessions_
    for (const auto& [id, session] : sessions_) open.push_back(id);
    for (const ConnectionId id : open) {
      if (HttpSession* session = Find(id)) session->Drain();
    }
    ReportDrained();
  });
}

void HttpListener::ReportDrained() {
  if (on_drained_ && sessions_.empty()) std::exchange(on_drained_, nullptr)();
}

void HttpListener::Crash() {
  for (const auto& [id, session] : sessions_) session->Reset();
  limiter_.StopListening();
}

void HttpListener::OnClosed(ConnectionId id) {
  handler_.OnClosed(id);
  sessions_.erase(id);
  limiter_.OnClosed(id);
  ReportDrained();
}

void HttpListener::Accept(tcp::socket socket) {
  const ConnectionId id = ++last_id_;
  HttpSession::Callbacks& callbacks = *this;
  auto session =
      std::make_unique<HttpSession>(id, std::move(socket), tls_.get(), options_.limits, callbacks);
  auto& started = *session;
  if (!keep_alive_) started.DisableKeepAlive();
  sessions_.emplace(id, std::move(session));
  started.Start();
}

HttpSession* HttpListener::Find(ConnectionId id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.get();
}

}  // namespace kopp::detail
