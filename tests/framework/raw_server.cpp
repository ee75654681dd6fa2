#include "raw_server.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kopp::testing {
namespace {

using What = Step::What;

// The transport under test must not depend on SIGPIPE being ignored, so only our threads do.
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

BIO* OverBytes(const std::string& bytes) {
  return BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size()));
}

X509* ReadCertificate(const std::string& pem) {
  BIO* bio = OverBytes(pem);
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return certificate;
}

SSL_CTX* MakeContext(const RawServer::Tls& tls) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  X509* certificate = ReadCertificate(tls.identity.certificate);
  BIO* bio = OverBytes(tls.identity.key);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  SSL_CTX_use_certificate(context, certificate);
  SSL_CTX_use_PrivateKey(context, key);
  X509_free(certificate);
  EVP_PKEY_free(key);
  if (!tls.client_authority.empty()) {
    X509* authority = ReadCertificate(tls.client_authority);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority);
    X509_free(authority);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return context;
}

std::size_t ContentLength(const std::string& head) {
  constexpr std::string_view kName = "Content-Length:";
  const auto at = head.find(kName);
  return at == std::string::npos ? 0 : std::strtoul(head.c_str() + at + kName.size(), nullptr, 10);
}

}  // namespace

std::string Answer(int status, const std::string& body, const std::string& headers) {
  return "HTTP/1.1 " + std::to_string(status) + " Text\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string ChunkedHead(int status) {
  return "HTTP/1.1 " + std::to_string(status) + " Text\r\nTransfer-Encoding: chunked\r\n\r\n";
}

std::string Chunk(const std::string& bytes) {
  char size[20];
  std::snprintf(size, sizeof(size), "%zx\r\n", bytes.size());
  return size + bytes + "\r\n";
}

Script Always(const std::string& answer) { return {ReadRequest(), Send(answer), Again()}; }

// The other end of one connection, with TLS or without.
class RawServer::Peer {
 public:
  Peer(std::size_t number, int socket, SSL_CTX* context) : index(number), socket_(socket) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (context == nullptr) return;
    session_ = SSL_new(context);
    SSL_set_fd(session_, socket);
  }
  ~Peer() { SSL_free(session_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  bool Handshake() { return session_ == nullptr || SSL_accept(session_) == 1; }

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
    const auto got = session_ == nullptr ? ::read(socket_, bytes, sizeof(bytes))
                                         : SSL_read(session_, bytes, sizeof(bytes));
    if (got > 0) input.append(bytes, static_cast<std::size_t>(got));
    return got > 0;
  }

  // Lets the other side read what was said last: closing with bytes unread would take it back.
  void AwaitEnd() {
    ::shutdown(socket_, SHUT_WR);
    char bytes[1024];
    while (::read(socket_, bytes, sizeof(bytes)) > 0) {
    }
  }

  void SayGoodbye() {
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
  std::string target;  // of the last request

 private:
  int socket_;
  SSL* session_ = nullptr;
};

RawServer::RawServer(std::vector<Script> scripts, std::optional<Tls> tls,
                     const std::string& address, std::uint16_t port)
    : scripts_(std::move(scripts)), tls_(tls.has_value()) {
  if (tls) context_.reset(MakeContext(*tls));
  socklen_t length = 0;
  sockaddr_storage storage = Loopback(address, length, port);
  auto* where = reinterpret_cast<sockaddr*>(&storage);
  listener_ = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(listener_, where, length) != 0 || ::listen(listener_, 64) != 0) {
    ::close(listener_);
    throw std::runtime_error("cannot listen on " + address);
  }
  ::getsockname(listener_, where, &length);
  port_ = ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                                              : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
  acceptor_ = std::jthread([this] { Accept(); });
}

RawServer::~RawServer() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
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

void RawServer::AwaitRequests(std::size_t count) { Wait("requests", received_, count); }
void RawServer::AwaitConnections(std::size_t count) { Wait("connections", connections_, count); }
void RawServer::AwaitFinished(std::size_t count) { Wait("closed ones", finished_, count); }

void RawServer::AwaitSent() { Wait("scripts at rest", stalled_, 1); }

void RawServer::Wait(const char* what, const std::size_t& counter, std::size_t count) {
  std::unique_lock lock(mutex_);
  const bool came = changed_.wait_for(lock, std::chrono::seconds(5),
                                      [&counter, count] { return counter >= count; });
  EXPECT_TRUE(came) << "of " << count << " " << what << " there are " << counter;
}

void RawServer::Proceed() {
  const std::lock_guard lock(mutex_);
  ++passes_;
  changed_.notify_all();
}

void RawServer::Accept() {
  for (;;) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock(mutex_);
    if (socket < 0 || ending_) {
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
    Peer peer(index, socket, context_.get());
    // A server that stalls at once does not even shake hands.
    const Script& script = scripts_[std::min(index, scripts_.size() - 1)];
    const bool mute = !script.empty() && script.front().what == What::kStall;
    if (mute || peer.Handshake()) {
      Run(peer, script);
    } else {
      peer.AwaitEnd();
    }
  }
  const std::lock_guard lock(mutex_);
  std::erase(sockets_, socket);
  ::close(socket);
  ++finished_;
  changed_.notify_all();
}

void RawServer::Run(Peer& peer, const Script& script) {
  for (std::size_t i = 0; i < script.size(); ++i) {
    if (script[i].what == What::kAgain) {
      i = std::size_t{0} - 1;
    } else if (!Take(peer, script[i])) {
      return;
    }
  }
  peer.SayGoodbye();
}

bool RawServer::Receive(Peer& peer, bool whole) {
  std::size_t end = std::string::npos;
  while ((end = peer.input.find("\r\n\r\n")) == std::string::npos) {
    if (!peer.ReadMore()) return false;
  }
  Request request{peer.index, peer.input.substr(0, end), "", peer.Client(), peer.ServerName()};
  peer.input.erase(0, end + 4);
  const std::size_t length = whole ? ContentLength(request.head) : 0;
  while (peer.input.size() < length) {
    if (!peer.ReadMore()) return false;
  }
  request.body = peer.input.substr(0, length);
  peer.input.erase(0, length);
  const auto target = request.head.find(' ') + 1;
  peer.target = request.head.substr(target, request.head.find(' ', target) - target);
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(request));
  ++received_;
  changed_.notify_all();
  return true;
}

// Whether the script goes on.
bool RawServer::Take(Peer& peer, const Step& step) {
  switch (step.what) {
    case What::kReadRequest:
      return Receive(peer, true);
    case What::kReadHead:
      return Receive(peer, false);
    case What::kEcho:
      return peer.Write(Answer(200, peer.target));
    case What::kSend:
      return peer.Write(step.bytes);
    case What::kDribble:
      return std::all_of(step.bytes.begin(), step.bytes.end(), [&peer](char byte) {
        return peer.Write({&byte, 1});
      });
    case What::kFlood:
      while (peer.Write(step.bytes)) {
      }
      return false;
    case What::kAwait: {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || passes_ > 0; });
      if (passes_ > 0) --passes_;
      return !ending_;
    }
    case What::kStall: {
      std::unique_lock lock(mutex_);
      ++stalled_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return ending_; });
      return false;
    }
    case What::kCutOff:
      return false;
    case What::kReset:
      peer.ResetOnClose();
      return false;
    case What::kClose:
    case What::kAgain:
      break;
  }
  peer.SayGoodbye();
  return false;
}

FullListener::FullListener() {
  socklen_t length = 0;
  sockaddr_storage storage = Loopback("127.0.0.1", length);
  auto* where = reinterpret_cast<sockaddr*>(&storage);
  sockets_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(sockets_.front(), where, length) != 0 || ::listen(sockets_.front(), 0) != 0) {
    throw std::system_error(errno, std::generic_category(), "a listener for a test");
  }
  ::getsockname(sockets_.front(), where, &length);
  port_ = ntohs(reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
  for (int i = 0; i < 4; ++i) {
    sockets_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    static_cast<void>(::connect(sockets_.back(), where, length));
  }
}

FullListener::~FullListener() {
  for (const int socket : sockets_) ::close(socket);
}

std::string FullListener::Url() const { return "http://127.0.0.1:" + std::to_string(port_); }

}  // namespace kopp::testing
