#include "memory_wire.hpp"

#include "failures.hpp"

#include <utility>

namespace kopp::apiserver {

namespace failure = detail::failure;

MemoryWire::MemoryWire(Clock& clock, const Uptime& uptime, const Request& request,
                       std::stop_token stop)
    : clock_(clock),
      asked_(request.method + ' ' + request.target + ": "),
      stop_(std::move(stop)),
      life_(uptime.life()),
      on_stop_(stop_, [this] { Wake(); }),
      on_end_(life_, [this] { Wake(); }) {}

void MemoryWire::Fail(const TransportError& error) const {
  throw TransportError(error.kind(), asked_ + error.what());
}

void MemoryWire::Check(const TransportError& error) const {
  if (stop_.stop_requested()) Fail(failure::Stopped());
  if (life_.stop_requested()) Fail(error);
}

void MemoryWire::Wake() {
  { happened_.Lock()->something = true; }
  changed_.notify_all();
}

void MemoryWire::WaitUntil(TimePoint deadline) {
  auto happened = happened_.Lock();
  if (!happened->something) clock_.WaitUntil(happened.lock(), changed_, deadline);
}

void MemoryWire::Rest(Duration duration, const TransportError& error) {
  const TimePoint end = After(clock_.Now(), duration);
  for (;;) {
    Look();
    Check(error);
    if (clock_.Now() >= end) return;
    WaitUntil(end);
  }
}

}  // namespace kopp::apiserver
