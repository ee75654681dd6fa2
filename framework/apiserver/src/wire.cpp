#include "wire.hpp"

#include "authority.hpp"

#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <linux/sockios.h>
#include <sys/ioctl.h>

namespace kopp::apiserver {
namespace {

namespace asio = boost::asio;

constexpr Duration kLinger = std::chrono::seconds(2);
constexpr Duration kLookAgain = std::chrono::milliseconds(1);

/// Bytes that the other side's kernel does not have yet.
bool HasUntaken(int socket) {
  int bytes = 0;
  return ::ioctl(socket, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

Peer PeerOf(SSL* session) {
  const detail::Certificate shown(SSL_get1_peer_certificate(session));
  if (shown == nullptr) return {};
  if (SSL_get_verify_result(session) != X509_V_OK) return {.certified = true};
  return {.certified = true, .user = UserIn(*shown)};
}

}  // namespace

Wire::Wire(asio::ip::tcp::socket socket, asio::ssl::context* tls, std::function<void()> ended)
    : stream_(std::move(socket)), pause_(stream_.get_executor()), ended_(std::move(ended)) {
  if (tls != nullptr) tls_.emplace(stream_, *tls);
}

template <class Next>
auto Wire::UnderWay(Next then) {
  ++under_way_;
  return [this, then = std::move(then)](const Error& error, std::size_t size = 0) {
    --under_way_;
    if (error || closed_) return Close();
    then(size);
  };
}

void Wire::Start(std::function<void()> then) {
  if (!tls_) return then();
  ready_ = std::move(then);
  stream_.async_read_some(asio::buffer(dropped_.data(), 1), UnderWay([this](std::size_t) {
                            const bool is_letter = dropped_[0] >= 'A' && dropped_[0] <= 'Z';
                            is_letter ? SayHttps() : Handshake();
                          }));
}

void Wire::Handshake() {
  tls_->async_handshake(asio::ssl::stream_base::server, asio::buffer(dropped_.data(), 1),
                        UnderWay([this](std::size_t) {
                          peer_ = PeerOf(tls_->native_handle());
                          ready_();
                        }));
}

void Wire::SayHttps() {
  tls_.reset();
  Write("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
        [this](std::size_t) { Finish(); });
}

void Wire::Read(asio::mutable_buffer into, Then then) {
  if (closed_) return;
  tls_ ? tls_->async_read_some(into, UnderWay(std::move(then)))
       : stream_.async_read_some(into, UnderWay(std::move(then)));
}

void Wire::Write(std::string bytes, Then then) {
  if (closed_) return;
  writing_ = std::move(bytes);
  auto written = UnderWay([this, then = std::move(then)](std::size_t size) {
    std::string().swap(writing_);  // an idle connection keeps no memory of its last answer
    then(size);
  });
  tls_ ? asio::async_write(*tls_, asio::buffer(writing_), std::move(written))
       : asio::async_write(stream_, asio::buffer(writing_), std::move(written));
}

void Wire::Ignore() {
  if (closed_) return;
  stream_.async_read_some(asio::buffer(dropped_), UnderWay([this](std::size_t) { Ignore(); }));
}

void Wire::Finish() {
  if (closed_) return;
  Within(kLinger);
  if (!tls_) return HalfClose();
  ++under_way_;
  tls_->async_shutdown([this](const Error&) {  // a client need not take part in it
    --under_way_;
    closed_ ? Close() : HalfClose();
  });
}

void Wire::HalfClose() {
  Error ignored;
  stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
  Ignore();
}

void Wire::Close() {
  if (!std::exchange(closed_, true)) {
    stream_.close();
    pause_.cancel();
  }
  if (under_way_ > 0 || ended_ == nullptr) return;
  asio::post(stream_.get_executor(), std::exchange(ended_, nullptr));
}

void Wire::Cut() {
  Error ignored;
  if (!closed_) stream_.socket().set_option(asio::socket_base::linger(true, 0), ignored);
  Close();
}

void Wire::CutWhenTaken() { CutWhenTaken(std::chrono::steady_clock::now() + kLinger); }

void Wire::CutWhenTaken(TimePoint latest) {
  const bool has_time = std::chrono::steady_clock::now() < latest;
  if (closed_ || !has_time || !HasUntaken(stream_.socket().native_handle())) return Cut();
  pause_.expires_after(kLookAgain);
  pause_.async_wait(UnderWay([this, latest](std::size_t) { CutWhenTaken(latest); }));
}

}  // namespace kopp::apiserver
