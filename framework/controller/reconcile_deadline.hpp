#pragma once

#include "timer_queue.hpp"

#include <optional>
#include <stop_token>
#include <utility>

#include <kopp/client.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The stop token and the client of one reconcile. With a deadline, the calls of the client are
/// cancelled and the stop is requested when it is reached. Without one, they are those of the
/// worker, and nothing is allocated.
class ReconcileDeadline {
 public:
  /// Without a deadline. `client` must outlive the object.
  ReconcileDeadline(const Client& client, std::stop_token stop)
      : client_(client), stop_(std::move(stop)) {}
  /// With the deadline `at`. `timers` and `client` must outlive the object.
  ReconcileDeadline(const Client& client, std::stop_token stop, TimerQueue& timers, TimePoint at)
      : client_(client), stop_(std::move(stop)) {
    armed_.emplace(client_, stop_, timers, at);
  }

  [[nodiscard]] const Client& client() const { return armed_ ? armed_->client : client_; }
  [[nodiscard]] std::stop_token stop() const { return armed_ ? armed_->stop.get_token() : stop_; }
  /// Ends the deadline. Returns whether it was reached. Call it at most once.
  bool End() { return armed_ && !armed_->timers.Cancel(armed_->timer); }

 private:
  struct Forward {
    std::stop_source to;
    void operator()() { to.request_stop(); }
  };
  struct Armed {
    Armed(const Client& worker_client, const std::stop_token& worker_stop, TimerQueue& timer_queue,
          TimePoint at)
        : client(worker_client.With(calls.get_token())),
          timers(timer_queue),
          on_worker_stop(worker_stop, Forward{stop}),
          on_client_stop(worker_client.stop(), Forward{calls}),
          timer(timers.Add(at, [stop = stop, calls = calls]() mutable {
            stop.request_stop();
            calls.request_stop();
          })) {}
    ~Armed() { timers.Cancel(timer); }
    Armed(const Armed&) = delete;
    Armed& operator=(const Armed&) = delete;

    std::stop_source stop;
    std::stop_source calls;
    Client client;
    TimerQueue& timers;
    std::stop_callback<Forward> on_worker_stop;
    std::stop_callback<Forward> on_client_stop;
    TimerQueue::Id timer;
  };

  const Client& client_;
  std::stop_token stop_;
  std::optional<Armed> armed_;
};

}  // namespace kopp
