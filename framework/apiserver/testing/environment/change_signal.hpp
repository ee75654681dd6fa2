#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Wakes threads that wait for a change: a counter of changes with a condition variable.
/// Thread-safe.
class ChangeSignal {
 public:
  /// Returns the number of notifications so far. To miss no change, read it before you check a
  /// condition, and pass it to Wait.
  [[nodiscard]] std::uint64_t count() const { return *count_.Lock(); }

  void Notify() {
    ++*count_.Lock();
    changed_.notify_all();
  }

  /// Blocks until count() exceeds `last_count`, or until `deadline` of the real clock. Returns
  /// false on timeout.
  bool Wait(std::uint64_t last_count, TimePoint deadline) const {
    Clock& clock = Clock::Real();
    auto count = count_.Lock();
    while (*count == last_count && clock.Now() < deadline) {
      clock.WaitUntil(count.lock(), changed_, deadline);
    }
    return *count > last_count;
  }

 private:
  mutable detail::Guarded<std::uint64_t> count_{0U};
  mutable std::condition_variable changed_;
};

/// Forwards requests to `inner`, which it owns, and calls `on_write` after each response to a
/// request that is not a GET. `on_write` runs in the thread of the caller. Thread-safe if `inner`
/// and `on_write` are.
class NotifyingTransport final : public Transport {
 public:
  NotifyingTransport(std::unique_ptr<Transport> inner, std::function<void()> on_write)
      : inner_(std::move(inner)), on_write_(std::move(on_write)) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    ApiResponse response = inner_->Call(request, std::move(stop));
    if (request.method != "GET") on_write_();
    return response;
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    return inner_->Open(request, std::move(stop));
  }

 private:
  std::unique_ptr<Transport> inner_;
  std::function<void()> on_write_;
};

}  // namespace kopp::apiserver
