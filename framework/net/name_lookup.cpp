#include "net/name_lookup.hpp"

#include "net/endpoint.hpp"
#include "net/transport_failure.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <netdb.h>

#include <kopp/transport_error.hpp>

namespace kopp::detail {
namespace {

using ErrorKind = TransportError::Kind;

// How often a waiting lookup checks its stop token: glibc wakes waiters only when the lookup is
// done.
constexpr Duration kStopCheckInterval = std::chrono::milliseconds(10);

std::vector<Address> ToAddresses(const addrinfo* found) {
  std::vector<Address> addresses;
  for (; found != nullptr; found = found->ai_next) {
    Address& address = addresses.emplace_back();
    address.length = std::min<socklen_t>(found->ai_addrlen, sizeof(address.storage));
    std::memcpy(&address.storage, found->ai_addr, address.length);
  }
  return addresses;
}

}  // namespace

// One lookup. A thread of glibc reads and writes its members, so it must live until that thread has
// finished with it.
class NameLookup::Query {
 public:
  static std::shared_ptr<Query> Start(const std::string& host, const std::string& port) {
    return {new Query(host, port), [](Query* query) {
              // A lookup that is running cannot be cancelled: leak the query rather than wait for
              // glibc's thread. gai_cancel also returns EAI_NOTCANCELED shortly after the thread
              // has stored the result, when it no longer uses the query.
              if (::gai_cancel(&query->control_) != EAI_NOTCANCELED || query->IsDone()) {
                delete query;
              }
            }};
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() {
    if (control_.ar_result != nullptr) ::freeaddrinfo(control_.ar_result);
  }

  // Blocks until the lookup is done, at most for `limit`. Returns the status of getaddrinfo, or
  // EAI_INPROGRESS if `limit` passed.
  int Wait(Duration limit) {
    if (!is_asynchronous_) return status_;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    const timespec wait{seconds.count(), (limit - seconds).count()};
    const std::array<const gaicb*, 1> list{&control_};
    ::gai_suspend(list.data(), 1, &wait);
    return ::gai_error(&control_);
  }
  [[nodiscard]] bool IsDone() {
    return !is_asynchronous_ || ::gai_error(&control_) != EAI_INPROGRESS;
  }
  [[nodiscard]] const addrinfo* found() const { return control_.ar_result; }

 private:
  Query(const std::string& host, const std::string& port) : host_(host), port_(port) {
    hints_.ai_family = AF_UNSPEC;
    hints_.ai_socktype = SOCK_STREAM;
    hints_.ai_flags = IsIpAddress(host) ? AI_NUMERICHOST | AI_NUMERICSERV : AI_NUMERICSERV;
    control_.ar_name = host_.c_str();
    control_.ar_service = port_.c_str();
    control_.ar_request = &hints_;
#if defined(__SANITIZE_THREAD__)
    const bool synchronous =
        true;  // ThreadSanitizer crashes in glibc's thread, because it did not see its start
#else
    const bool synchronous = IsIpAddress(host);
#endif
    std::array<gaicb*, 1> list{&control_};
    status_ = synchronous ? ::getaddrinfo(control_.ar_name, control_.ar_service, &hints_,
                                          &control_.ar_result)
                          : ::getaddrinfo_a(GAI_NOWAIT, list.data(), 1, nullptr);
    is_asynchronous_ = !synchronous && status_ == 0;
  }

  std::string host_;
  std::string port_;
  addrinfo hints_{};
  gaicb control_{};
  int status_ = 0;
  bool is_asynchronous_ = false;  // glibc's thread runs the lookup; gai_error returns its status
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
  const auto query = JoinOrStartQuery();
  int status = query->Wait(Duration::zero());
  while (status == EAI_INPROGRESS) {
    if (stop.stop_requested()) throw failure::Cancelled();
    const TimePoint now = Clock::Real().Now();
    if (now >= deadline) {
      throw TransportError(ErrorKind::kTimeout, "timed out while looking up " + host_ +
                                                    "; check that the name servers in "
                                                    "/etc/resolv.conf respond");
    }
    status = query->Wait(std::min(deadline - now, kStopCheckInterval));
  }
  RemoveQuery(query);
  if (status != 0) {
    throw TransportError(
        ErrorKind::kUnreachable,
        "cannot look up " + host_ + ": " + ::gai_strerror(status) + "; check the host name");
  }
  return ToAddresses(query->found());
}

// A finished query that is still active was abandoned by its callers. Its result may be outdated,
// so it is not used.
std::shared_ptr<NameLookup::Query> NameLookup::JoinOrStartQuery() {
  const std::lock_guard lock(mutex_);
  if (!active_query_ || active_query_->IsDone()) active_query_ = Query::Start(host_, port_);
  return active_query_;
}

// Called when the lookup is done: later callers start a new lookup.
void NameLookup::RemoveQuery(const std::shared_ptr<Query>& query) {
  const std::lock_guard lock(mutex_);
  if (active_query_ == query) active_query_.reset();
}

}  // namespace kopp::detail
