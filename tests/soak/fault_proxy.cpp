#include "fault_proxy.hpp"

#include "net/socket.hpp"

#include <chrono>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace kopp::soak {
namespace {

using namespace std::chrono_literals;
using detail::FileDescriptor;

constexpr int kPollMilliseconds = 20;
constexpr std::array<const char*, FaultProxy::kFaults> kFaultNames{
    "resets", "truncations", "closes", "delays", "half-open", "refusals"};

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

FileDescriptor NewSocket() {
  return FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

FileDescriptor ListenOnLoopback() {
  FileDescriptor listener = NewSocket();
  const sockaddr_in address = Loopback(0);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0) {
    throw std::runtime_error("the fault proxy cannot listen on 127.0.0.1");
  }
  return listener;
}

std::uint16_t PortOf(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

FileDescriptor Connect(std::uint16_t port) {
  FileDescriptor to = NewSocket();
  const sockaddr_in address = Loopback(port);
  if (connect(to.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  return to;
}

/// Makes the end of `socket` a TCP reset.
void ResetOnClose(int socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

bool SendAll(int socket, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

/// Forwards bytes in both directions, in a thread of its own.
class FaultProxy::Connection {
 public:
  Connection(FileDescriptor client, FileDescriptor server)
      : client_(std::move(client)), server_(std::move(server)), thread_([this] { Run(); }) {}
  ~Connection() { mode_ = Mode::kReset; }  // the thread ends within kPollMilliseconds

  void Inject(Fault fault, Duration duration) {
    switch (fault) {
      case Fault::kTruncate:
        mode_ = Mode::kTruncate;
        break;
      case Fault::kClose:
        mode_ = Mode::kClose;
        break;
      case Fault::kDelay:
        silent_until_ = SaturatingAdd(Clock::Real().Now(), duration);
        break;
      case Fault::kHalfOpen:
        silent_until_ = TimePoint::max();
        break;
      case Fault::kReset:
      case Fault::kRefuse:
        mode_ = Mode::kReset;
        break;
    }
  }
  void Heal() {
    if (silent_until_.load() == TimePoint::max()) mode_ = Mode::kReset;
  }
  [[nodiscard]] bool is_silent() const { return Clock::Real().Now() < silent_until_.load(); }
  [[nodiscard]] bool has_ended() const { return ended_; }

 private:
  enum class Mode { kForward, kTruncate, kClose, kReset };

  void Run() {
    bool is_open = true;
    while (is_open && mode_ != Mode::kReset && mode_ != Mode::kClose) is_open = ForwardOnce();
    if (mode_ != Mode::kClose) {
      ResetOnClose(client_.get());
      ResetOnClose(server_.get());
    }
    client_ = FileDescriptor{};
    server_ = FileDescriptor{};
    ended_ = true;
  }
  /// Waits for bytes for a short time and forwards them. Returns false at the end.
  bool ForwardOnce() {
    if (is_silent()) {
      poll(nullptr, 0, kPollMilliseconds);
      return true;
    }
    std::array<pollfd, 2> sockets{{{client_.get(), POLLIN, 0}, {server_.get(), POLLIN, 0}}};
    if (poll(sockets.data(), sockets.size(), kPollMilliseconds) <= 0) return true;
    if (is_silent()) return true;
    if (sockets[0].revents != 0 && !Copy(client_.get(), server_.get())) return false;
    return sockets[1].revents == 0 || Copy(server_.get(), client_.get());
  }
  bool Copy(int from, int to) {
    std::array<char, 16384> buffer;
    const ssize_t size = recv(from, buffer.data(), buffer.size(), 0);
    if (size == 0) mode_ = Mode::kClose;
    if (size <= 0) return false;
    const auto bytes = std::span(buffer).first(static_cast<std::size_t>(size));
    if (mode_ != Mode::kTruncate) return SendAll(to, bytes);
    SendAll(to, bytes.first(bytes.size() / 2));
    return false;
  }

  FileDescriptor client_;
  FileDescriptor server_;
  std::atomic<Mode> mode_{Mode::kForward};
  std::atomic<TimePoint> silent_until_{TimePoint{}};
  std::atomic<bool> ended_{false};
  std::jthread thread_;  // last: it uses all members above
};

FaultProxy::FaultProxy(std::uint16_t target_port, std::uint64_t seed)
    : target_port_(target_port),
      listener_(ListenOnLoopback()),
      port_(PortOf(listener_.get())),
      random_(seed),
      injector_([this](const std::stop_token& stop) { InjectFaults(stop); }),
      acceptor_([this](const std::stop_token& stop) { Accept(stop); }) {}

FaultProxy::~FaultProxy() {
  Heal();
  acceptor_.request_stop();
  acceptor_.join();
}

void FaultProxy::Heal() {
  injector_.request_stop();
  if (injector_.joinable()) injector_.join();
  refuse_until_ = TimePoint{};
  auto connections = connections_.Lock();
  for (const auto& connection : *connections) connection->Heal();
}

std::string FaultProxy::Summary() const {
  std::string text;
  for (std::size_t i = 0; i < kFaults; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(counts_[i]) + ' ' + kFaultNames[i];
  }
  return text;
}

void FaultProxy::Accept(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd listener{listener_.get(), POLLIN, 0};
    if (poll(&listener, 1, kPollMilliseconds) <= 0) continue;
    FileDescriptor client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const bool refuse = Clock::Real().Now() < refuse_until_.load();
    FileDescriptor server = refuse ? FileDescriptor{} : Connect(target_port_);
    if (server.get() < 0) {
      ResetOnClose(client.get());
      continue;
    }
    detail::TuneSocket(client.get());
    detail::TuneSocket(server.get());
    auto connections = connections_.Lock();
    std::erase_if(*connections, [](const auto& each) { return each->has_ended(); });
    connections->push_back(std::make_unique<Connection>(std::move(client), std::move(server)));
  }
}

void FaultProxy::InjectFaults(const std::stop_token& stop) {
  std::uniform_int_distribution<int> pause(200, 1500);
  std::uniform_int_distribution<std::size_t> fault(0, kFaults - 1);
  std::uniform_int_distribution<int> duration(100, 1500);
  while (SleepUntil(Clock::Real(),
                    SaturatingAdd(Clock::Real().Now(), std::chrono::milliseconds(pause(random_))),
                    stop)) {
    Inject(static_cast<Fault>(fault(random_)), std::chrono::milliseconds(duration(random_)));
  }
}

void FaultProxy::Inject(Fault fault, Duration duration) {
  ++counts_[static_cast<std::size_t>(fault)];
  auto connections = connections_.Lock();
  if (fault == Fault::kRefuse) {
    refuse_until_ = SaturatingAdd(Clock::Real().Now(), duration);
    for (const auto& connection : *connections) connection->Inject(fault, duration);
    return;
  }
  std::vector<Connection*> open;
  for (const auto& connection : *connections) {
    if (!connection->has_ended() && !connection->is_silent()) open.push_back(connection.get());
  }
  const std::size_t choice = random_();
  if (!open.empty()) open[choice % open.size()]->Inject(fault, duration);
}

}  // namespace kopp::soak
