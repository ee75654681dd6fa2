#include "raw_server.hpp"

#include "base/openssl.hpp"
#include "hang_timeout.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kopp::testing {
namespace {

using Type = Step::Type;

// Blocks SIGPIPE in the calling thread only: the transport under test must not depend on SIGPIPE
// being ignored.
void BlockSigpipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

sockaddr_storage Loopback(const std::string& address, socklen_t& length, std::uint16_t port = 0) {
  sockaddr_storage storage{};
  if (address.find(':') != std::string::npos) {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    ::inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr);
    length = sizeof(sockaddr_in6);
  } else {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    ::inet_pton(AF_INET, address.c_str(), &v4->sin_addr);
    length = sizeof(sockaddr_in);
  }
  return storage;
}

detail::Certificate ReadCertificate(const std::string& pem) {
  const detail::Bio bio = detail::MemoryBio(pem);
  return detail::Certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

SSL_CTX* MakeContext(const RawServer::Tls& tls) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  const detail::Bio bio = detail::MemoryBio(tls.identity.key);
  const detail::Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  SSL_CTX_use_certificate(context, ReadCertificate(tls.identity.certificate).get());
  SSL_CTX_use_PrivateKey(context, key.get());
  if (!tls.client_authority.empty()) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context),
                        ReadCertificate(tls.client_authority).get());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return context;
}

std::size_t ContentLength(const std::string& head) {
  constexpr std::string_view kName = "Content-Length:";
  const auto position = head.find(kName);
  return position == std::string::npos
             ? 0
             : std::strtoul(head.c_str() + position + kName.size(), nullptr, 10);
}

}  // namespace

std::string MakeResponse(int status, const std::string& body, const std::string& headers) {
  return "HTTP/1.1 " + std::to_string(status) + " Text\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string ChunkedResponseHead(int status) {
  return "HTTP/1.1 " + std::to_string(status) + " Text\r\nTransfer-Encoding: chunked\r\n\r\n";
}

std::string Chunk(const std::string& bytes) {
  char size[20];
  std::snprintf(size, sizeof(size), "%zx\r\n", bytes.size());
  return size + bytes + "\r\n";
}

Script AlwaysRespond(const std::string& response) {
  return {ReadRequest(), Send(response), Repeat()};
}

// The server side of one connection, with or without TLS, or with a TLS session inside another.
class RawServer::ServerConnection {
 public:
  ServerConnection(std::size_t number, int socket) : index(number), socket_(socket) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  ~ServerConnection() { SSL_free(session_); }
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  // Without `context` there is no TLS. A second handshake runs inside the session of the first.
  bool Handshake(SSL_CTX* context) {
    if (context == nullptr) return true;
    SSL* outer = std::exchange(session_, SSL_new(context));
    if (outer == nullptr) {
      SSL_set_fd(session_, socket_);
    } else {
      BIO* bio = BIO_new(BIO_f_ssl());
      BIO_set_ssl(bio, outer, BIO_CLOSE);
      SSL_set_bio(session_, bio, bio);
    }
    return SSL_accept(session_) == 1;
  }

  bool Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = session_ == nullptr
                            ? ::write(socket_, bytes.data(), bytes.size())
                            : SSL_write(session_, bytes.data(), static_cast<int>(bytes.size()));
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  bool ReadMore() {
    char bytes[16384];
    const auto received = session_ == nullptr ? ::read(socket_, bytes, sizeof(bytes))
                                              : SSL_read(session_, bytes, sizeof(bytes));
    if (received > 0) input.append(bytes, static_cast<std::size_t>(received));
    return received > 0;
  }

  // Shuts down the sending side and reads until the client closes. Closing a socket with unread
  // bytes would send a reset, and the client could lose the last bytes sent to it.
  void DrainUntilClosed() {
    ::shutdown(socket_, SHUT_WR);
    char bytes[1024];
    while (::read(socket_, bytes, sizeof(bytes)) > 0) {
    }
  }

  void CloseTls() {
    if (session_ != nullptr && SSL_is_init_finished(session_) == 1) SSL_shutdown(session_);
  }

  void ResetOnClose() {
    const linger now{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  }

  [[nodiscard]] std::string Client() const {
    if (session_ == nullptr) return "";
    X509* certificate = SSL_get1_peer_certificate(session_);
    if (certificate == nullptr) return "";
    char name[100] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name,
                              sizeof(name));
    X509_free(certificate);
    return name;
  }

  [[nodiscard]] std::string ServerName() const {
    const char* name =
        session_ == nullptr ? nullptr : SSL_get_servername(session_, TLSEXT_NAMETYPE_host_name);
    return name == nullptr ? "" : name;
  }

  const std::size_t index;
  std::string input;
  std::string target;  // the target of the last request

 private:
  int socket_;
  SSL* session_ = nullptr;  // from the handshake on
};

RawServer::RawServer(std::vector<Script> scripts, std::optional<Tls> tls,
                     const std::string& address, std::uint16_t port)
    : scripts_(std::move(scripts)), tls_(tls.has_value()) {
  if (tls) context_.reset(MakeContext(*tls));
  if (tls && !tls->proxy.key.empty()) proxy_context_.reset(MakeContext({.identity = tls->proxy}));
  socklen_t length = 0;
  sockaddr_storage storage = Loopback(address, length, port);
  auto* socket_address = reinterpret_cast<sockaddr*>(&storage);
  listener_ = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(listener_, socket_address, length) != 0 || ::listen(listener_, 64) != 0) {
    ::close(listener_);
    throw std::runtime_error("cannot listen on " + address);
  }
  ::getsockname(listener_, socket_address, &length);
  port_ = ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                                              : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
  acceptor_ = std::jthread([this] { Accept(); });
}

RawServer::~RawServer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    ::shutdown(listener_, SHUT_RDWR);
    changed_.notify_all();
  }
  acceptor_.join();
  threads_.clear();
  ::close(listener_);
}

std::string RawServer::Url(const std::string& host) const {
  return (tls_ ? "https://" : "http://") + host + ":" + std::to_string(port_);
}

std::vector<RawServer::Request> RawServer::Requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::size_t RawServer::Connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

void RawServer::WaitForRequests(std::size_t count) { WaitForCounter("requests", received_, count); }
void RawServer::WaitForConnections(std::size_t count) {
  WaitForCounter("connections", connections_, count);
}
void RawServer::WaitForClosedConnections(std::size_t count) {
  WaitForCounter("closed connections", closed_, count);
}

void RawServer::WaitForStall() { WaitForCounter("stalled scripts", stalled_, 1); }

void RawServer::WaitForCounter(const char* type, const std::size_t& counter, std::size_t count) {
  std::unique_lock lock(mutex_);
  const bool reached =
      changed_.wait_for(lock, kHangTimeout, [&counter, count] { return counter >= count; });
  EXPECT_TRUE(reached) << "expected " << count << " " << type << ", got " << counter;
}

void RawServer::Proceed() {
  const std::lock_guard lock(mutex_);
  ++proceed_tokens_;
  changed_.notify_all();
}

void RawServer::Accept() {
  for (;;) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0 && errno == EMFILE) continue;  // until the test permits file descriptors again
    const std::lock_guard lock(mutex_);
    if (socket < 0 || stopping_) {
      if (socket >= 0) ::close(socket);
      return;
    }
    sockets_.push_back(socket);
    threads_.emplace_back([this, index = connections_, socket] { Serve(index, socket); });
    ++connections_;
    changed_.notify_all();
  }
}

void RawServer::Serve(std::size_t index, int socket) {
  BlockSigpipe();
  {
    ServerConnection connection(index, socket);
    // A script that starts with kStall or has a kStartTls does not start with the TLS handshake,
    // except that with an https:// proxy.
    const Script& script = scripts_[std::min(index, scripts_.size() - 1)];
    const bool stalls_at_once = !script.empty() && script.front().type == Type::kStall;
    const bool starts_tls_later = std::any_of(script.begin(), script.end(), [](const Step& step) {
      return step.type == Type::kStartTls;
    });
    SSL_CTX* context = proxy_context_ ? proxy_context_.get() : context_.get();
    const bool starts_without_tls = stalls_at_once || (starts_tls_later && !proxy_context_);
    if (starts_without_tls || connection.Handshake(context)) {
      RunScript(connection, script);
    } else {
      connection.DrainUntilClosed();
    }
  }
  const std::lock_guard lock(mutex_);
  std::erase(sockets_, socket);
  ::close(socket);
  ++closed_;
  changed_.notify_all();
}

void RawServer::RunScript(ServerConnection& connection, const Script& script) {
  for (std::size_t i = 0; i < script.size(); ++i) {
    if (script[i].type == Type::kRepeat) {
      i = std::size_t{0} - 1;
    } else if (!RunStep(connection, script[i])) {
      return;
    }
  }
  connection.CloseTls();
}

bool RawServer::RecordRequest(ServerConnection& connection, bool with_body) {
  std::size_t end = std::string::npos;
  while ((end = connection.input.find("\r\n\r\n")) == std::string::npos) {
    if (!connection.ReadMore()) return false;
  }
  Request request{connection.index, connection.input.substr(0, end), "", connection.Client(),
                  connection.ServerName()};
  connection.input.erase(0, end + 4);
  const std::size_t length = with_body ? ContentLength(request.head) : 0;
  while (connection.input.size() < length) {
    if (!connection.ReadMore()) return false;
  }
  request.body = connection.input.substr(0, length);
  connection.input.erase(0, length);
  const auto target = request.head.find(' ') + 1;
  connection.target = request.head.substr(target, request.head.find(' ', target) - target);
  Record(std::move(request));
  return true;
}

bool RawServer::RecordBytes(ServerConnection& connection, std::size_t count) {
  while (connection.input.size() < count) {
    if (!connection.ReadMore()) return false;
  }
  Record({connection.index, connection.input.substr(0, count)});
  connection.input.erase(0, count);
  return true;
}

void RawServer::Record(Request request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(request));
  ++received_;
  changed_.notify_all();
}

// Runs one step. Returns whether the script continues.
bool RawServer::RunStep(ServerConnection& connection, const Step& step) {
  switch (step.type) {
    case Type::kReadRequest:
      return RecordRequest(connection, true);
    case Type::kReadRequestHead:
      return RecordRequest(connection, false);
    case Type::kReadBytes:
      return RecordBytes(connection, step.bytes.size());
    case Type::kStartTls:
      return connection.Handshake(context_.get());
    case Type::kEchoTarget:
      return connection.Write(MakeResponse(200, connection.target));
    case Type::kSend:
      return connection.Write(step.bytes);
    case Type::kSendByteByByte:
      return std::all_of(step.bytes.begin(), step.bytes.end(), [&connection](char byte) {
        return connection.Write({&byte, 1});
      });
    case Type::kSendUntilClosed:
      while (connection.Write(step.bytes)) {
      }
      return false;
    case Type::kWaitForProceed: {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || proceed_tokens_ > 0; });
      if (proceed_tokens_ > 0) --proceed_tokens_;
      return !stopping_;
    }
    case Type::kStall: {
      std::unique_lock lock(mutex_);
      ++stalled_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return stopping_; });
      return false;
    }
    case Type::kCloseAbruptly:
      return false;
    case Type::kReset:
      connection.ResetOnClose();
      return false;
    case Type::kClose:
    case Type::kRepeat:
      break;
  }
  connection.CloseTls();
  return false;
}

FullListener::FullListener() {
  socklen_t length = 0;
  sockaddr_storage storage = Loopback("127.0.0.1", length);
  auto* socket_address = reinterpret_cast<sockaddr*>(&storage);
  sockets_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(sockets_.front(), socket_address, length) != 0 || ::listen(sockets_.front(), 0) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot create a listener");
  }
  ::getsockname(sockets_.front(), socket_address, &length);
  port_ = ntohs(reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
  for (int i = 0; i < 4; ++i) {
    sockets_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    static_cast<void>(::connect(sockets_.back(), socket_address, length));
  }
}

FullListener::~FullListener() {
  for (const int socket : sockets_) ::close(socket);
}

std::string FullListener::Url() const { return "http://127.0.0.1:" + std::to_string(port_); }

}  // namespace kopp::testing
