#include "net/server_connection.hpp"

#include "net/server_tls.hpp"
#include "net/socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <new>
#include <utility>

#include <boost/asio/post.hpp>
#include <linux/sockios.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace kopp::detail {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMaxTlsRecord = 16 << 10;
/// The bytes that one turn of the network thread reads or writes for a connection.
constexpr std::size_t kMaxTurn = 256 << 10;
constexpr Duration kLinger = std::chrono::seconds(2);
constexpr Duration kDeliveryPollInterval = std::chrono::milliseconds(1);

/// Returns whether the kernel of the peer has not acknowledged all written bytes yet.
bool HasUndeliveredBytes(int socket) {
  int bytes = 0;
  return ::ioctl(socket, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

}  // namespace

ServerConnection::ServerConnection(Socket socket, asio::ssl::context* tls, Callback on_closed)
    : socket_(std::move(socket)),
      io_{.socket = socket_.native_handle()},
      deadline_timer_(socket_.get_executor()),
      pause_(socket_.get_executor()),
      on_closed_(std::move(on_closed)) {
  Error ignored;
  socket_.native_non_blocking(true, ignored);
  if (tls == nullptr) return;
  session_.reset(SSL_new(tls->native_handle()));
  if (!session_) throw std::bad_alloc();
  SSL_set_mode(session_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                   SSL_MODE_RELEASE_BUFFERS);
  SSL_set_read_ahead(session_.get(), 1);  // one recv per record instead of two
  BIO* bio = NewSocketBio(io_);
  SSL_set_bio(session_.get(), bio, bio);
}

template <class Attempt>
void ServerConnection::TryNext(Attempt attempt) {
  if (!closed_) Post(std::move(attempt), has_deadline());
}

template <class Attempt>
void ServerConnection::Post(Attempt attempt, bool has_deadline) {
  ++pending_;
  asio::post(socket_.get_executor(), [this, attempt = std::move(attempt), has_deadline]() mutable {
    --pending_;
    // Without a wait, the timer does not end an operation of a client that sends without a pause.
    const bool is_late = has_deadline && std::chrono::steady_clock::now() >= deadline_;
    closed_ || is_late ? Close() : Repeat(std::move(attempt), has_deadline);
  });
}

template <class Attempt>
void ServerConnection::TryWhenReadable(Attempt attempt) {
  if (!closed_) Await(Socket::wait_read, std::move(attempt), has_deadline());
}

template <class Attempt>
void ServerConnection::Repeat(Attempt attempt, bool has_deadline) {
  switch (attempt()) {
    case Progress::kDone:
      return;
    case Progress::kAgain:
      return Post(std::move(attempt), has_deadline);
    case Progress::kNeedsRead:
      return Await(Socket::wait_read, std::move(attempt), has_deadline);
    case Progress::kNeedsWrite:
      return Await(Socket::wait_write, std::move(attempt), has_deadline);
    case Progress::kFailed:
      return Close();
  }
}

template <class Attempt>
void ServerConnection::Await(Socket::wait_type event, Attempt attempt, bool has_deadline) {
  ++pending_;
  if (has_deadline) {
    ++pending_with_deadline_;
    ArmDeadline();
  }
  socket_.async_wait(
      event, [this, event, attempt = std::move(attempt), has_deadline](const Error& error) mutable {
        --pending_;
        if (has_deadline) --pending_with_deadline_;
        if (error || closed_) return Close();
        if (event == Socket::wait_read) io_.drained = false;
        Repeat(std::move(attempt), has_deadline);
      });
}

void ServerConnection::SetTimeout(Duration timeout) {
  deadline_ = SaturatingAdd(std::chrono::steady_clock::now(), timeout);
}

void ServerConnection::ShortenTimeout(Duration timeout) {
  deadline_ = std::min(deadline_, SaturatingAdd(std::chrono::steady_clock::now(), timeout));
  if (!closed_ && pending_with_deadline_ > 0) ArmDeadline();
}

// Each operation moves the deadline. The timer is set only if it would expire too late; if it
// expires too early, it is set again.
void ServerConnection::ArmDeadline() {
  if (deadline_ >= armed_for_) return;
  armed_for_ = deadline_;
  ++pending_;
  deadline_timer_.expires_at(deadline_);
  deadline_timer_.async_wait([this](const Error& error) {
    --pending_;
    if (closed_) return Close();
    if (error) return;  // it was set again
    armed_for_ = TimePoint::max();
    if (pending_with_deadline_ == 0) return;
    std::chrono::steady_clock::now() < deadline_ ? ArmDeadline() : Close();
  });
}

void ServerConnection::Start(Callback on_ready) {
  if (!session_) return on_ready();
  on_ready_ = std::move(on_ready);
  TryWhenReadable([this] {
    char first = 0;
    const auto received = ::recv(io_.socket, &first, 1, MSG_PEEK);
    if (received < 0 && WouldBlock(errno)) return Progress::kNeedsRead;
    if (received <= 0) return Progress::kFailed;
    const bool is_letter = first >= 'A' && first <= 'Z';
    is_letter ? RejectPlainHttp() : TryNext([this] { return TryHandshake(); });
    return Progress::kDone;
  });
}

ServerConnection::Progress ServerConnection::TryHandshake() {
  ERR_clear_error();
  const int result = SSL_accept(session_.get());
  if (result != 1) return ProgressOf(result);
  client_ = ClientCertificateOf(session_.get());
  on_ready_();
  return Progress::kDone;
}

ServerConnection::Progress ServerConnection::ProgressOf(int tls_result) {
  switch (SSL_get_error(session_.get(), tls_result)) {
    case SSL_ERROR_WANT_READ:
      return Progress::kNeedsRead;
    case SSL_ERROR_WANT_WRITE:
      return Progress::kNeedsWrite;
    default:
      return Progress::kFailed;
  }
}

void ServerConnection::RejectPlainHttp() {
  session_.reset();
  Write("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
        [this] { Finish(); });
}

void ServerConnection::Read(ReadCallback callback) {
  auto attempt = [this, callback = std::move(callback)] {
    std::array<char, kMaxTlsRecord> bytes;
    std::size_t received = 0;
    const Progress progress = TryRead(bytes, received);
    if (progress == Progress::kDone) callback({bytes.data(), received});
    return progress;
  };
  const bool has_bytes = session_ && SSL_has_pending(session_.get()) == 1;
  io_.drained && !has_bytes ? TryWhenReadable(std::move(attempt)) : TryNext(std::move(attempt));
}

ServerConnection::Progress ServerConnection::TryRead(std::span<char> into, std::size_t& received) {
  if (session_) {
    ERR_clear_error();
    const int result = SSL_read_ex(session_.get(), into.data(), into.size(), &received);
    return result == 1 ? Progress::kDone : ProgressOf(result);
  }
  const auto size = ::recv(io_.socket, into.data(), into.size(), 0);
  if (size < 0 && WouldBlock(errno)) return Progress::kNeedsRead;
  if (size <= 0) return Progress::kFailed;
  received = static_cast<std::size_t>(size);
  io_.drained = received < into.size();
  return Progress::kDone;
}

void ServerConnection::Write(std::string bytes, Callback callback) {
  if (closed_) return;
  writing_ = std::move(bytes);
  written_ = 0;
  TryNext([this, callback = std::move(callback)] {
    const std::size_t end = std::min(writing_.size(), written_ + kMaxTurn);
    while (written_ < end) {
      if (const Progress progress = TryWrite(); progress != Progress::kDone) return progress;
    }
    if (written_ < writing_.size()) return Progress::kAgain;
    std::string().swap(writing_);  // frees the memory of the last response
    callback();
    return Progress::kDone;
  });
}

ServerConnection::Progress ServerConnection::TryWrite() {
  const std::string_view rest = std::string_view(writing_).substr(written_);
  std::size_t written = 0;
  if (session_) {
    ERR_clear_error();
    const int result = SSL_write_ex(session_.get(), rest.data(), rest.size(), &written);
    if (result != 1) return ProgressOf(result);
  } else {
    const auto size = ::send(io_.socket, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (size < 0) return WouldBlock(errno) ? Progress::kNeedsWrite : Progress::kFailed;
    written = static_cast<std::size_t>(size);
  }
  written_ += written;
  return Progress::kDone;
}

void ServerConnection::Discard() {
  TryNext([this] { return TryDiscard(); });
}

ServerConnection::Progress ServerConnection::TryDiscard() {
  std::array<char, kMaxTlsRecord> discarded;
  const auto size = ::recv(io_.socket, discarded.data(), discarded.size(), 0);
  if (size > 0) return Progress::kAgain;
  return size < 0 && WouldBlock(errno) ? Progress::kNeedsRead : Progress::kFailed;
}

void ServerConnection::Finish() {
  if (closed_) return;
  SetTimeout(kLinger);
  TryNext([this] {
    ERR_clear_error();
    const int result = session_ ? SSL_shutdown(session_.get()) : 1;
    if (result < 0 && ProgressOf(result) == Progress::kNeedsWrite) return Progress::kNeedsWrite;
    HalfClose();  // in spite of an error: the client may have closed its side
    return Progress::kDone;
  });
}

void ServerConnection::HalfClose() {
  Error ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  Discard();
}

void ServerConnection::Close() {
  if (!std::exchange(closed_, true)) {
    Error ignored;
    socket_.close(ignored);
    deadline_timer_.cancel();
    pause_.cancel();
  }
  if (pending_ > 0 || on_closed_ == nullptr) return;
  asio::post(socket_.get_executor(), std::exchange(on_closed_, nullptr));
}

void ServerConnection::Reset() {
  Error ignored;
  if (!closed_) socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  Close();
}

void ServerConnection::ResetWhenDelivered() {
  ResetWhenDelivered(std::chrono::steady_clock::now() + kLinger);
}

void ServerConnection::ResetWhenDelivered(TimePoint deadline) {
  const bool has_time = std::chrono::steady_clock::now() < deadline;
  if (closed_ || !has_time || !HasUndeliveredBytes(io_.socket)) return Reset();
  ++pending_;
  pause_.expires_after(kDeliveryPollInterval);
  pause_.async_wait([this, deadline](const Error&) {
    --pending_;
    closed_ ? Close() : ResetWhenDelivered(deadline);
  });
}

}  // namespace kopp::detail
