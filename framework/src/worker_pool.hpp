#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <kopp/reconcile.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp {

/// How reconciles ended, since the start. Safe to read from any thread.
struct ReconcileCounts {
  std::atomic<std::uint64_t> success{0};
  std::atomic<std::uint64_t> requeue_after{0};
  std::atomic<std::uint64_t> error{0};
  std::atomic<std::uint64_t> terminal_error{0};
};

/// The threads that take keys from a queue and reconcile them. The heart:
///
///     while (key = Get) { reconcile → Forget, AddAfter or AddRateLimited; Done }
///
/// It is the one place that catches what a reconciler throws. No throw of a reconciler or a limiter
/// ends a thread.
class WorkerPool {
 public:
  using Queue = workqueue::RateLimitingQueue<ObjectKey>;

  /// What the reconciles work with; it and the queue outlive the pool.
  struct World {
    const Client& client;
    const Cache& cache;
    EventRecorder& events;
    Logger log;
  };

  WorkerPool(Queue& queue, Reconciler reconcile, World world)
      : queue_(queue), reconcile_(std::move(reconcile)), world_(std::move(world)) {}

  void Start(int workers) {
    *alive_.Lock() = workers;
    for (int i = 0; i < workers; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) {
        while (const auto key = queue_.Get(stop)) {
          const workqueue::DoneGuard done{queue_, *key};
          Process(*key, stop);
        }
        --*alive_.Lock();
        ended_.notify_all();
      });
    }
  }

  /// Tells the threads to finish the key in hand and to take no other. Does not wait.
  void RequestStop() {
    for (std::jthread& thread : threads_) thread.request_stop();
  }

  /// Blocks until no thread is at work, or until `deadline`. Returns whether none is.
  bool AwaitEnd(Clock& clock, TimePoint deadline) {
    auto alive = alive_.Lock();
    while (*alive > 0 && clock.Now() < deadline) clock.WaitUntil(alive.lock(), ended_, deadline);
    return *alive == 0;
  }

  [[nodiscard]] const ReconcileCounts& counts() const { return counts_; }

 private:
  void Process(const ObjectKey& key, const std::stop_token& stop) {
    std::string problem;
    try {
      const Logger log = world_.log.With({{"object", key}});
      Context context{key, world_.client, world_.cache, world_.events, log, stop};
      return Succeed(key, reconcile_(key, context));
    } catch (const TerminalError& error) {
      return GiveUp(key, error.what());
    } catch (const std::exception& error) {
      problem = error.what();
    } catch (...) {
      problem = "something was thrown that is no std::exception";
    }
    TryAgain(key, problem);
  }

  void Succeed(const ObjectKey& key, const Result& result) {
    queue_.Forget(key);
    if (result.requeue_after > Duration::zero()) {
      ++counts_.requeue_after;
      queue_.AddAfter(key, result.requeue_after);
    } else {
      ++counts_.success;
    }
  }

  void GiveUp(const ObjectKey& key, const std::string& problem) {
    ++counts_.terminal_error;
    world_.log.Error("Reconciler error, not tried again until the object changes",
                     {{"object", key}, {"err", problem}});
    queue_.Forget(key);
  }

  void TryAgain(const ObjectKey& key, const std::string& problem) {
    ++counts_.error;
    world_.log.Error("Reconciler error", {{"object", key}, {"err", problem}});
    try {
      queue_.AddRateLimited(key);
    } catch (const std::exception& error) {  // the limiter's own
      world_.log.Error("The rate limiter failed, the next try is in a second",
                       {{"object", key}, {"err", error.what()}});
      queue_.AddAfter(key, std::chrono::seconds(1));
    }
  }

  Queue& queue_;
  Reconciler reconcile_;
  World world_;
  ReconcileCounts counts_;
  Guarded<int> alive_{0};
  std::condition_variable ended_;
  std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace kopp
