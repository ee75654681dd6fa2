#include "http/in_memory_connection.hpp"

#include "net/transport_failure.hpp"

#include <utility>

namespace kopp::apiserver {

namespace failure = detail::failure;

InMemoryConnection::InMemoryConnection(Clock& clock, const ServerLifecycle& lifecycle,
                                       const ApiRequest& request, std::stop_token stop)
    : clock_(clock),
      request_(request.method + ' ' + request.target + ": "),
      stop_(std::move(stop)),
      run_(lifecycle.run()),
      on_stop_(stop_, [this] { Wake(); }),
      on_run_end_(run_, [this] { Wake(); }) {}

void InMemoryConnection::Fail(const TransportError& error) const {
  throw TransportError(error.kind(), request_ + error.what());
}

void InMemoryConnection::Check(const TransportError& error) const {
  if (stop_.stop_requested()) Fail(failure::Cancelled());
  if (run_.stop_requested()) Fail(error);
}

void InMemoryConnection::Wake() {
  { wake_.Lock()->requested = true; }
  changed_.notify_all();
}

void InMemoryConnection::WaitUntil(TimePoint deadline) {
  auto wake = wake_.Lock();
  if (!wake->requested) clock_.WaitUntil(wake.lock(), changed_, deadline);
}

void InMemoryConnection::Sleep(Duration duration, const TransportError& error) {
  const TimePoint end = SaturatingAdd(clock_.Now(), duration);
  for (;;) {
    ResetWake();
    Check(error);
    if (clock_.Now() >= end) return;
    WaitUntil(end);
  }
}

}  // namespace kopp::apiserver
