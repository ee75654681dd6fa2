#pragma once

#include "uptime.hpp"

#include <condition_variable>
#include <functional>
#include <stop_token>
#include <string>

#include <kopp/transport.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// What a connection would be, for one request: it holds as long as the server's life goes on and
/// nobody asks it to stop. Used by one thread, but for Wake.
class MemoryWire {
 public:
  MemoryWire(Clock& clock, const Uptime& uptime, const Request& request, std::stop_token stop);

  /// Throws TransportError: `error`, with what was asked.
  [[noreturn]] void Fail(const TransportError& error) const;
  /// Fails when it is to stop, or, with `error`, when the server's life has ended.
  void Check(const TransportError& error) const;

  /// Ends the wait that is on, or the next one unless Look comes before it. From any thread.
  void Wake();
  /// Before looking at what a wait is to be for.
  void Look() { happened_.Lock()->something = false; }
  /// Until somebody wakes it, Check would fail, or `deadline`.
  void WaitUntil(TimePoint deadline);
  /// Waits as long as that. Fails as Check does.
  void Rest(Duration duration, const TransportError& error);

 private:
  struct Happened {
    bool something = false;
  };

  Clock& clock_;
  const std::string asked_;
  const std::stop_token stop_;
  const std::stop_token life_;
  Guarded<Happened> happened_;
  std::condition_variable changed_;
  std::stop_callback<std::function<void()>> on_stop_;
  std::stop_callback<std::function<void()>> on_end_;
};

}  // namespace kopp::apiserver
