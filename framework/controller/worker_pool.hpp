#pragma once

#include "controller/controller_queue.hpp"

#include <condition_variable>
#include <functional>
#include <list>
#include <stop_token>
#include <thread>

#include <kopp/informer/object_key.hpp>
#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Threads that take keys from a queue and process them. Each thread runs this loop:
///
///     while (key = Get()) { process(key); Done(key) }
///
/// No exception ends a thread. Thread-safe, except for Start and WaitUntilEnded. The destructor
/// stops the threads and waits for them.
class WorkerPool {
 public:
  using Queue = workqueue::RateLimitingQueue<ObjectKey, QueuedReasons>;
  using QueuedKey = workqueue::QueuedItem<ObjectKey, QueuedReasons>;
  /// Processes one key. RequestStop requests a stop of `stop`.
  using Process = std::function<void(const QueuedKey& next, const std::stop_token& stop)>;

  /// `queue` and `clock` must outlive the pool.
  WorkerPool(Queue& queue, Clock& clock, int workers, Process process);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Starts the threads. May be called again after WaitUntilEnded has returned true. Throws
  /// std::system_error if a thread cannot be started; the threads before it run.
  void Start(const Logger& log);

  /// Changes the number of threads, also while they run. New threads start at once. A surplus
  /// thread ends after its current key, whose stop token is not stopped. May be called by
  /// `process`. Throws std::system_error as Start does; a later call starts the missing threads.
  void SetWorkers(int workers);
  /// Returns the number of threads that Start or SetWorkers aims at.
  [[nodiscard]] int workers() { return state_.Lock()->target; }

  /// Makes each thread end after its current key. Does not block.
  void RequestStop();

  /// Blocks until all threads have ended, or until `deadline`. Returns whether they have ended.
  [[nodiscard]] bool WaitUntilEnded(TimePoint deadline);

 private:
  struct Worker {
    std::jthread thread{};  // its stop token makes it end
    bool ended = false;
  };
  struct State {
    int target = 0;
    bool running = false;       // Start was called, and RequestStop was not
    std::list<Worker> workers;  // the first ones are to end if there are too many
    std::list<Worker> leaving;  // that end after their current key, or have ended
    std::stop_source stop{};    // for `process`
  };

  void Work(Worker& self, const std::stop_token& leave, const std::stop_token& stop);
  bool ProcessNext(const std::stop_token& leave, const std::stop_token& stop);
  void PauseAfterError(const char* error, const std::stop_token& leave);
  void StartMissing(State& state);

  Queue& queue_;
  Clock& clock_;
  const Process process_;
  Logger log_;
  detail::Guarded<State> state_;
  std::condition_variable thread_ended_;
};

}  // namespace kopp
