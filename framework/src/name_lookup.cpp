#include "name_lookup.hpp"

#include "endpoint.hpp"
#include "failures.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <netdb.h>

#include <kopp/transport.hpp>

namespace kopp::detail {
namespace {

// How late a look-up may notice that it is to stop: glibc wakes its waiters for an answer only.
constexpr Duration kStopCheck = std::chrono::milliseconds(10);

std::vector<Address> Copy(const addrinfo* found) {
  std::vector<Address> addresses;
  for (; found != nullptr; found = found->ai_next) {
    Address& address = addresses.emplace_back();
    address.length = std::min<socklen_t>(found->ai_addrlen, sizeof(address.storage));
    std::memcpy(&address.storage, found->ai_addr, address.length);
  }
  return addresses;
}

}  // namespace

// What glibc's thread reads and writes. It lives until that thread is done with it.
class NameLookup::Query {
 public:
  static std::shared_ptr<Query> Start(const std::string& host, const std::string& port) {
    return {new Query(host, port), [](Query* query) {
              // Still under way, and not to be stopped: better leave these bytes to glibc's thread
              // than wait for it.
              if (::gai_cancel(&query->control_) != EAI_NOTCANCELED) delete query;
            }};
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() {
    if (control_.ar_result != nullptr) ::freeaddrinfo(control_.ar_result);
  }

  // What getaddrinfo returned; EAI_INPROGRESS when `limit` passes first.
  int Await(Duration limit) {
    if (!handed_over_) return state_;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    const timespec wait{seconds.count(), (limit - seconds).count()};
    const std::array<const gaicb*, 1> list{&control_};
    ::gai_suspend(list.data(), 1, &wait);
    return ::gai_error(&control_);
  }
  [[nodiscard]] bool HasEnded() {
    return !handed_over_ || ::gai_error(&control_) != EAI_INPROGRESS;
  }
  [[nodiscard]] const addrinfo* found() const { return control_.ar_result; }

 private:
  Query(const std::string& host, const std::string& port) : host_(host), port_(port) {
    hints_.ai_family = AF_UNSPEC;
    hints_.ai_socktype = SOCK_STREAM;
    hints_.ai_flags = IsAddress(host) ? AI_NUMERICHOST | AI_NUMERICSERV : AI_NUMERICSERV;
    control_.ar_name = host_.c_str();
    control_.ar_service = port_.c_str();
    control_.ar_request = &hints_;
#if defined(__SANITIZE_THREAD__)
    const bool at_once =
        true;  // ThreadSanitizer dies of glibc's thread, whose start it did not see
#else
    const bool at_once = IsAddress(host);
#endif
    std::array<gaicb*, 1> list{&control_};
    state_ =
        at_once ? ::getaddrinfo(control_.ar_name, control_.ar_service, &hints_, &control_.ar_result)
                : ::getaddrinfo_a(GAI_NOWAIT, list.data(), 1, nullptr);
    handed_over_ = !at_once && state_ == 0;
  }

  std::string host_;
  std::string port_;
  addrinfo hints_{};
  gaicb control_{};
  int state_ = 0;
  bool handed_over_ = false;  // to glibc's thread, so that the state is to be asked for
};

std::string Address::Text() const {
  std::array<char, NI_MAXHOST> text{};
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&storage), length, text.data(), text.size(),
                nullptr, 0, NI_NUMERICHOST);
  return text.data();
}

NameLookup::NameLookup(std::string host, std::uint16_t port)
    : host_(std::move(host)), port_(std::to_string(port)) {}

std::vector<Address> NameLookup::Resolve(TimePoint deadline, const std::stop_token& stop) {
  using Kind = TransportError::Kind;
  const auto query = Join();
  int state = query->Await(Duration::zero());
  while (state == EAI_INPROGRESS) {
    if (stop.stop_requested()) throw failure::Stopped();
    const TimePoint now = Clock::Real().Now();
    if (now >= deadline) {
      throw TransportError(Kind::kTimeout, "the look-up of " + host_ +
                                               " took too long: do the name servers in "
                                               "/etc/resolv.conf answer?");
    }
    state = query->Await(std::min(deadline - now, kStopCheck));
  }
  Leave(query);
  if (state != 0) {
    throw TransportError(
        Kind::kUnreachable,
        "cannot look up " + host_ + ": " + ::gai_strerror(state) + ": is the server's name right?");
  }
  return Copy(query->found());
}

// One that has ended and is still here is an answer that nobody awaited: it may be old.
std::shared_ptr<NameLookup::Query> NameLookup::Join() {
  const std::lock_guard lock(mutex_);
  if (!under_way_ || under_way_->HasEnded()) under_way_ = Query::Start(host_, port_);
  return under_way_;
}

// The answer is in: who asks from now on asks anew.
void NameLookup::Leave(const std::shared_ptr<Query>& query) {
  const std::lock_guard lock(mutex_);
  if (under_way_ == query) under_way_.reset();
}

}  // namespace kopp::detail
