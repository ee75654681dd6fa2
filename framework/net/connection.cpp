#include "net/connection.hpp"

#include "net/transport_failure.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <netinet/in.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <kopp/transport_error.hpp>

namespace kopp::detail {
namespace {

using ErrorKind = TransportError::Kind;

// The limit of one SSL_read or SSL_write, whose sizes are of type int.
constexpr std::size_t kMaxTlsBytes = 1U << 30;

std::string ErrnoText(int error) { return std::generic_category().message(error); }

[[noreturn]] void ThrowConnectError(int error) {
  if (error == ECONNREFUSED) throw failure::ConnectionRefused();
  throw failure::CannotConnect(ErrnoText(error));
}

[[noreturn]] void ThrowConnectionError(int error) {
  if (error == 0) throw failure::UnexpectedEnd();
  throw failure::ConnectionBroken(ErrnoText(error));
}

// SSL_get_error needs an empty error queue. To clear it costs more than to look at it.
void ClearTlsErrors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

}  // namespace

Connection::Connection(const Address& to) {
  socket_ = FileDescriptor(
      ::socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (socket_.get() < 0) ThrowConnectError(errno);
  io_.socket = socket_.get();
  TuneSocket(io_.socket);
  const auto* address = reinterpret_cast<const sockaddr*>(&to.storage);
  const int started = ::connect(io_.socket, address, to.length);
  if (started != 0 && errno != EINPROGRESS) ThrowConnectError(errno);
}

void Connection::WaitUntilConnected(TimePoint deadline) {
  if (!WaitFor(POLLOUT, deadline)) throw failure::ConnectTimeout();
  int error = 0;
  socklen_t length = sizeof(error);
  ::getsockopt(io_.socket, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) ThrowConnectError(error);
}

void Connection::Handshake(const TlsContext& tls, TimePoint deadline) {
  proxy_session_ = std::move(session_);
  session_ = tls.NewSession(handshake_);
  BIO* bio = NewBio();
  SSL_set_bio(session_.get(), bio, bio);
  SSL_set_read_ahead(session_.get(), 1);  // one recv per record instead of two
  for (;;) {
    ClearTlsErrors();
    const int result = SSL_connect(session_.get());
    if (result == 1) return;
    const int error = SSL_get_error(session_.get(), result);
    const short events = PollEventsFor(error);
    if (events == 0) ThrowHandshakeError(error);
    if (!WaitFor(events, deadline)) throw failure::HandshakeTimeout(tls.peer());
  }
}

// Returns the BIO below session_: the socket, or the TLS session with the proxy.
BIO* Connection::NewBio() {
  if (!proxy_session_) return NewSocketBio(io_);
  BIO* bio = BIO_new(BIO_f_ssl());
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_ssl(bio, proxy_session_.get(), BIO_NOCLOSE);
  return bio;
}

void Connection::Write(std::string_view bytes, TimePoint deadline) {
  while (!bytes.empty()) {
    short events = POLLOUT;
    std::size_t written = 0;
    if (session_) {
      ClearTlsErrors();
      const int result = SSL_write_ex(session_.get(), bytes.data(),
                                      std::min(bytes.size(), kMaxTlsBytes), &written);
      if (result != 1) {
        const int error = SSL_get_error(session_.get(), result);
        events = PollEventsFor(error);
        if (events == 0) ThrowTlsError(error);
      }
    } else {
      const auto sent = ::send(io_.socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && !WouldBlock(errno)) ThrowConnectionError(errno);
      written = static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
    }
    bytes.remove_prefix(written);
    if (written == 0 && !WaitFor(events, deadline)) throw failure::ResponseTimeout();
  }
}

std::optional<std::size_t> Connection::Read(std::span<char> buffer, TimePoint deadline) {
  return session_ ? ReadTls(buffer, deadline) : ReadPlain(buffer, deadline);
}

std::optional<std::size_t> Connection::ReadPlain(std::span<char> buffer, TimePoint deadline) {
  for (;;) {
    const auto received = ::recv(io_.socket, buffer.data(), buffer.size(), 0);
    if (received >= 0) return static_cast<std::size_t>(received);
    if (!WouldBlock(errno)) ThrowConnectionError(errno);
    if (!WaitFor(POLLIN, deadline)) return std::nullopt;
  }
}

std::optional<std::size_t> Connection::ReadTls(std::span<char> buffer, TimePoint deadline) {
  const auto has_pending = [](const auto& tls) { return tls && SSL_has_pending(tls.get()) == 1; };
  if (io_.drained && !has_pending(session_) && !has_pending(proxy_session_)) {
    if (!WaitFor(POLLIN, deadline)) return std::nullopt;
    io_.drained = false;
  }
  for (;;) {
    ClearTlsErrors();
    std::size_t received = 0;
    const int result = SSL_read_ex(session_.get(), buffer.data(),
                                   std::min(buffer.size(), kMaxTlsBytes), &received);
    if (result == 1) return received;
    const int error = SSL_get_error(session_.get(), result);
    if (error == SSL_ERROR_ZERO_RETURN) return 0;
    const short events = PollEventsFor(error);
    if (events == 0) ThrowTlsError(error);
    if (!WaitFor(events, deadline)) return std::nullopt;
  }
}

bool Connection::IsReusable(const TlsContext* tls) const {
  const bool belongs = tls == nullptr ? !session_ : tls->IsContextOf(session_.get());
  const auto has_pending = [](const Session& session) {
    return session && SSL_has_pending(session.get()) != 0;
  };
  return belongs && !has_pending(session_) && !has_pending(proxy_session_) &&
         IsOpenAndIdle(io_.socket);
}

bool Connection::WaitFor(short events, TimePoint deadline) const {
  for (;;) {
    pollfd poll{.fd = io_.socket, .events = events, .revents = 0};
    const TimePoint now = Clock::Real().Now();
    const Duration left = deadline <= now ? Duration::zero() : deadline - now;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec limit{seconds.count(), (left - seconds).count()};
    const int ready = ::ppoll(&poll, 1, &limit, nullptr);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) ThrowConnectionError(errno);
  }
}

short Connection::PollEventsFor(int error) {
  if (error == SSL_ERROR_WANT_READ) return POLLIN;
  return error == SSL_ERROR_WANT_WRITE ? POLLOUT : 0;
}

void Connection::ThrowHandshakeError(int error) {
  if (!handshake_.verify_error.empty())
    throw TransportError(ErrorKind::kUntrusted, handshake_.verify_error);
  if (error != SSL_ERROR_SSL || ERR_peek_error() == 0) {
    throw failure::HandshakeClosed(handshake_.peer);
  }
  throw ToTransportError(ERR_peek_error(), handshake_.peer);
}

void Connection::ThrowTlsError(int error) {
  const unsigned long code = ERR_peek_error();
  if (error == SSL_ERROR_SSL && IsCertificateAlert(code)) {
    throw ToTransportError(code, handshake_.peer);
  }
  if (error == SSL_ERROR_SSL && code != 0) {
    throw failure::ConnectionBroken(ReadAndClearTlsErrors());
  }
  ThrowConnectionError(IsClosedByProxy() ? 0 : io_.error);
}

// Returns whether the proxy has closed its TLS session. The session inside sees the end of the
// connection, although the last read from the socket did not fail.
bool Connection::IsClosedByProxy() const {
  return proxy_session_ && (SSL_get_shutdown(proxy_session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

}  // namespace kopp::detail
