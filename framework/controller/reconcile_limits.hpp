#pragma once

#include "controller/timer_queue.hpp"
#include "running_reconciles.hpp"

#include <optional>
#include <stop_token>
#include <utility>

#include <kopp/client.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The stop token and the client of one call of a user's function. Both are stopped at the
/// deadline, and when a newer event adds the key again. Without these limits, they are those of the
/// attempt, and nothing is allocated.
class ReconcileLimits {
 public:
  struct Options {
    RunningReconciles* running = nullptr;  ///< null: the call cannot be superseded
    TimerQueue* timers = nullptr;          ///< null: no deadline
    TimePoint deadline{};
  };

  /// All references and pointers must outlive the object.
  ReconcileLimits(const Client& client, std::stop_token stop, const ObjectKey& key,
                  const Options& options)
      : client_(client), stop_(std::move(stop)) {
    if (options.running == nullptr && options.timers == nullptr) return;
    armed_.emplace(client_, stop_);
    if (options.running != nullptr) armed_->EndWhenSuperseded(*options.running, key);
    if (options.timers != nullptr) armed_->EndAt(*options.timers, options.deadline);
  }

  [[nodiscard]] const Client& client() const { return armed_ ? armed_->client : client_; }
  [[nodiscard]] std::stop_token stop() const {
    return armed_ ? armed_->end.stop.get_token() : stop_;
  }
  /// Returns whether both were stopped by a newer event.
  [[nodiscard]] bool superseded() const {
    return armed_ && armed_->run && armed_->run->superseded().stop_requested();
  }
  /// Ends the deadline. Returns whether it was reached. Call it at most once.
  bool EndDeadline() {
    return armed_ && armed_->timers != nullptr && !armed_->timers->Cancel(armed_->timer);
  }

 private:
  struct End {
    std::stop_source stop{};
    std::stop_source calls{};
    void operator()() {
      stop.request_stop();
      calls.request_stop();
    }
  };
  struct Forward {
    std::stop_source to;
    void operator()() { to.request_stop(); }
  };
  struct Armed {
    Armed(const Client& worker_client, const std::stop_token& worker_stop)
        : client(worker_client.With(end.calls.get_token())),
          on_worker_stop(worker_stop, Forward{end.stop}),
          on_client_stop(worker_client.stop(), Forward{end.calls}) {}
    ~Armed() {
      if (timers != nullptr) timers->Cancel(timer);
    }
    Armed(const Armed&) = delete;
    Armed& operator=(const Armed&) = delete;

    void EndWhenSuperseded(RunningReconciles& running, const ObjectKey& key) {
      run.emplace(running, key);
      on_superseded.emplace(run->superseded(), end);
    }
    void EndAt(TimerQueue& timer_queue, TimePoint deadline) {
      timers = &timer_queue;
      timer = timers->Add(deadline, end);
    }

    End end;
    Client client;
    std::stop_callback<Forward> on_worker_stop;
    std::stop_callback<Forward> on_client_stop;
    std::optional<RunningReconciles::Run> run;
    std::optional<std::stop_callback<End>> on_superseded;
    TimerQueue* timers = nullptr;
    TimerQueue::Id timer{};
  };

  const Client& client_;
  std::stop_token stop_;
  std::optional<Armed> armed_;
};

}  // namespace kopp
