#include "connection.hpp"

#include "failures.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <netinet/in.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <kopp/transport.hpp>

namespace kopp::detail {
namespace {

using Kind = TransportError::Kind;

// OpenSSL counts in int.
constexpr std::size_t kMostAtOnce = 1U << 30;

std::string Text(int error) { return std::generic_category().message(error); }

[[noreturn]] void FailToConnect(int error) {
  if (error == ECONNREFUSED) throw failure::Refused();
  throw failure::CannotConnect(Text(error));
}

[[noreturn]] void FailInTheMiddle(int error) {
  if (error == 0) throw failure::CutShort();
  throw failure::Broken(Text(error));
}

bool IsPatience(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Connection::Connection(const Address& to) {
  wire_.socket = Descriptor(
      ::socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (wire_.socket.get() < 0) FailToConnect(errno);
  TuneSocket(wire_.socket.get());
  const auto* address = reinterpret_cast<const sockaddr*>(&to.storage);
  const int started = ::connect(wire_.socket.get(), address, to.length);
  if (started != 0 && errno != EINPROGRESS) FailToConnect(errno);
}

void Connection::AwaitConnected(TimePoint deadline) {
  if (!Await(POLLOUT, deadline)) throw failure::ConnectTimeout();
  int error = 0;
  socklen_t length = sizeof(error);
  ::getsockopt(wire_.socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) FailToConnect(error);
}

void Connection::Handshake(const TlsContext& tls, TimePoint deadline) {
  session_ = tls.NewSession(report_);
  BIO* bio = BIO_new(Bio());
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, &wire_);
  BIO_set_init(bio, 1);
  SSL_set_bio(session_.get(), bio, bio);
  SSL_set_read_ahead(session_.get(), 1);  // one recv a record, not two
  for (;;) {
    ERR_clear_error();
    const int result = SSL_connect(session_.get());
    if (result == 1) return;
    const int error = SSL_get_error(session_.get(), result);
    const short events = EventsFor(error);
    if (events == 0) FailHandshake(error);
    if (!Await(events, deadline)) throw failure::HandshakeTimeout();
  }
}

void Connection::Write(std::string_view bytes, TimePoint deadline) {
  while (!bytes.empty()) {
    short events = POLLOUT;
    std::size_t written = 0;
    if (session_) {
      ERR_clear_error();
      const int result =
          SSL_write_ex(session_.get(), bytes.data(), std::min(bytes.size(), kMostAtOnce), &written);
      if (result != 1) {
        const int error = SSL_get_error(session_.get(), result);
        events = EventsFor(error);
        if (events == 0) FailTls(error);
      }
    } else {
      const auto sent = ::send(wire_.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && !IsPatience(errno)) FailInTheMiddle(errno);
      written = static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
    }
    bytes.remove_prefix(written);
    if (written == 0 && !Await(events, deadline)) throw failure::Timeout();
  }
}

std::optional<std::size_t> Connection::Read(std::span<char> into, TimePoint deadline) {
  return session_ ? ReadTls(into, deadline) : ReadPlain(into, deadline);
}

std::optional<std::size_t> Connection::ReadPlain(std::span<char> into, TimePoint deadline) {
  for (;;) {
    const auto got = ::recv(wire_.socket.get(), into.data(), into.size(), 0);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (!IsPatience(errno)) FailInTheMiddle(errno);
    if (!Await(POLLIN, deadline)) return std::nullopt;
  }
}

std::optional<std::size_t> Connection::ReadTls(std::span<char> into, TimePoint deadline) {
  for (;;) {
    ERR_clear_error();
    std::size_t got = 0;
    const int result =
        SSL_read_ex(session_.get(), into.data(), std::min(into.size(), kMostAtOnce), &got);
    if (result == 1) return got;
    const int error = SSL_get_error(session_.get(), result);
    if (error == SSL_ERROR_ZERO_RETURN) return 0;
    const short events = EventsFor(error);
    if (events == 0) FailTls(error);
    if (!Await(events, deadline)) return std::nullopt;
  }
}

bool Connection::IsFit() const {
  return (!session_ || SSL_has_pending(session_.get()) == 0) && IsQuiet(wire_.socket.get());
}

bool Connection::Await(short events, TimePoint deadline) const {
  for (;;) {
    pollfd poll{.fd = wire_.socket.get(), .events = events, .revents = 0};
    const TimePoint now = Clock::Real().Now();
    const Duration left = deadline <= now ? Duration::zero() : deadline - now;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec limit{seconds.count(), (left - seconds).count()};
    const int ready = ::ppoll(&poll, 1, &limit, nullptr);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) FailInTheMiddle(errno);
  }
}

short Connection::EventsFor(int error) {
  if (error == SSL_ERROR_WANT_READ) return POLLIN;
  return error == SSL_ERROR_WANT_WRITE ? POLLOUT : 0;
}

void Connection::FailHandshake(int error) {
  if (!report_.refusal.empty()) throw TransportError(Kind::kUntrusted, report_.refusal);
  if (error != SSL_ERROR_SSL || ERR_peek_error() == 0) throw failure::HandshakeClosed();
  throw ExplainHandshake(ERR_peek_error());
}

void Connection::FailTls(int error) {
  const unsigned long code = ERR_peek_error();
  if (error == SSL_ERROR_SSL && IsCertificateAlert(code)) throw ExplainHandshake(code);
  if (error == SSL_ERROR_SSL && code != 0) {
    throw failure::Broken(TakeTlsError());
  }
  FailInTheMiddle(wire_.error);
}

const BIO_METHOD* Connection::Bio() {
  // OpenSSL's own socket BIO writes without MSG_NOSIGNAL: a peer gone would be our death by
  // SIGPIPE.
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "kopp socket");
    BIO_meth_set_read(made, &Connection::BioRead);
    BIO_meth_set_write(made, &Connection::BioWrite);
    BIO_meth_set_ctrl(made, &Connection::BioControl);
    return made;
  }();
  return method;
}

int Connection::BioRead(BIO* bio, char* bytes, int size) {
  auto* wire = static_cast<Wire*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const auto got = ::recv(wire->socket.get(), bytes, static_cast<std::size_t>(size), 0);
  if (got <= 0) wire->error = got == 0 ? 0 : errno;
  if (got < 0 && IsPatience(errno)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

int Connection::BioWrite(BIO* bio, const char* bytes, int size) {
  auto* wire = static_cast<Wire*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(wire->socket.get(), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0) wire->error = errno;
  if (sent < 0 && IsPatience(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

long Connection::BioControl(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;  // nothing is held back
}

}  // namespace kopp::detail
