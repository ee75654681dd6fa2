#pragma once

#include "controller/supersedable_call.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <kopp/informer/api_error.hpp>
#include <kopp/informer/retry_after.hpp>
#include <kopp/reconcile.hpp>
#include <kopp/workqueue/random_source.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp {

/// The number of reconciles by result since the start. Thread-safe.
struct ReconcileCounts {
  std::atomic<std::uint64_t> success{0};
  std::atomic<std::uint64_t> requeue_after{0};
  std::atomic<std::uint64_t> error{0};
  std::atomic<std::uint64_t> terminal_error{0};
};

/// Threads that take keys from a queue and reconcile them. Each thread runs this loop:
///
///     while (key = Get()) { reconcile; Forget, AddAfter or AddRateLimited; Done }
///
/// This is the only place that catches exceptions of reconcile functions. Neither they nor
/// exceptions of the rate limiter end a thread. The destructor stops the threads and waits for
/// them. Not thread-safe, except for counts().
///
/// A key whose reconcile failed with an ApiError waits at least as long as the API server asks for
/// (see RetryAfterDelay), so that an overloaded server is not called once per back-off.
class WorkerPool {
 public:
  using Queue = workqueue::RateLimitingQueue<ObjectKey>;

  /// The objects that each Context refers to. They must outlive the pool.
  struct ReconcileDependencies {
    const Client& client;
    const Cache& cache;
    EventRecorder& events;
    Logger log;
    RunningReconciles* running = nullptr;  ///< null: a newer event does not stop a reconcile
    bool reasons = false;                  ///< whether to keep the reasons of retries
  };

  /// `queue` must outlive the pool.
  WorkerPool(Queue& queue, Reconciler reconcile, ReconcileDependencies dependencies)
      : queue_(queue), reconcile_(std::move(reconcile)), dependencies_(std::move(dependencies)) {}

  /// Starts `workers` threads. Call it once.
  void Start(int workers) {
    *running_.Lock() = workers;
    for (int i = 0; i < workers; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) {
        while (const auto next = queue_.GetWithNote(stop)) {
          const workqueue::DoneGuard done{queue_, next->item};
          Process(next->item, ReasonsNote::Of(next->note.get()), stop);
        }
        --*running_.Lock();
        thread_ended_.notify_all();
      });
    }
  }

  /// Makes each thread end after its current key. Does not block.
  void RequestStop() {
    for (std::jthread& thread : threads_) thread.request_stop();
  }

  /// Blocks until all threads have ended, or until `deadline`. Returns whether they have ended.
  bool WaitUntilEnded(Clock& clock, TimePoint deadline) {
    auto running = running_.Lock();
    while (*running > 0 && clock.Now() < deadline) {
      clock.WaitUntil(running.lock(), thread_ended_, deadline);
    }
    return *running == 0;
  }

  [[nodiscard]] const ReconcileCounts& counts() const { return counts_; }

 private:
  void Process(const ObjectKey& key, Reasons reasons, const std::stop_token& stop) {
    std::string error_text;
    Duration retry_after{};
    const SupersedableCall call(dependencies_.running, key, dependencies_.client, stop);
    try {
      const Logger log = dependencies_.log.With({{"object", key}});
      if (!reasons.empty()) log.V(4).Info("Reconcile triggered", {{"reasons", reasons.ToString()}});
      Context context{.key = key,
                      .client = call.client(),
                      .cache = dependencies_.cache,
                      .events = dependencies_.events,
                      .log = log,
                      .stop = call.stop(),
                      .reasons = std::move(reasons),
                      .is_superseded = [this, &key] { return queue_.IsSuperseded(key); }};
      return OnSuccess(key, reconcile_(key, context));
    } catch (const TerminalError& error) {
      return OnTerminalError(key, error.what());
    } catch (const ApiError& error) {
      error_text = error.what();
      retry_after = RetryAfterDelay(error.retry_after(), workqueue::SystemRandom());
    } catch (const std::exception& error) {
      error_text = error.what();
    } catch (...) {
      error_text = "the reconciler threw an object that is not a std::exception";
    }
    if (call.superseded()) return OnSuperseded(key, error_text);
    OnError(key, error_text, retry_after);
  }

  void OnSuccess(const ObjectKey& key, const Result& result) {
    queue_.Forget(key);
    if (result.requeue_after > Duration::zero()) {
      ++counts_.requeue_after;
      queue_.AddAfter(key, result.requeue_after, {}, NoteOf(Reason::Type::kRequeueAfter));
    } else {
      ++counts_.success;
    }
  }

  void OnTerminalError(const ObjectKey& key, const std::string& error_text) {
    ++counts_.terminal_error;
    dependencies_.log.Error("Reconciler error, not retried until the object changes",
                            {{"object", key}, {"err", error_text}});
    queue_.Forget(key);
  }

  /// The key was added again, so Done makes it ready.
  void OnSuperseded(const ObjectKey& key, const std::string& error_text) {
    dependencies_.log.Info("Reconcile superseded by a newer event",
                           {{"object", key}, {"reason", error_text}});
  }

  void OnError(const ObjectKey& key, const std::string& error_text, Duration retry_after) {
    ++counts_.error;
    dependencies_.log.Error("Reconciler error", {{"object", key}, {"err", error_text}});
    try {
      queue_.AddRateLimited(key, {}, retry_after, NoteOf(Reason::Type::kRetry));
    } catch (const std::exception& error) {
      OnLimiterError(key, error.what());
    } catch (...) {
      OnLimiterError(key, "the rate limiter threw an object that is not a std::exception");
    }
  }

  void OnLimiterError(const ObjectKey& key, const char* error_text) {
    dependencies_.log.Error("Rate limiter error, retrying in 1 s",
                            {{"object", key}, {"err", error_text}});
    queue_.AddAfter(key, std::chrono::seconds(1), {}, NoteOf(Reason::Type::kRetry));
  }

  /// Returns null if no reasons are kept.
  [[nodiscard]] std::unique_ptr<workqueue::Note> NoteOf(Reason::Type type) const {
    if (!dependencies_.reasons) return nullptr;
    return std::make_unique<ReasonsNote>(Reason{.type = type});
  }

  Queue& queue_;
  Reconciler reconcile_;
  ReconcileDependencies dependencies_;
  ReconcileCounts counts_;
  Guarded<int> running_{0};  // number of threads that have not ended
  std::condition_variable thread_ended_;
  std::vector<std::jthread> threads_;  // last: the threads use all members above
};

}  // namespace kopp
