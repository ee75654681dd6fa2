#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <kopp/runnable.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// The runnables of one RunnableGroup, each on its own thread. May be started again after a stop.
/// Thread-safe. The destructor stops the runnables and waits for them.
class RunnableThreads {
 public:
  /// Called on the thread of a runnable that threw before a stop was requested.
  using FailureHandler = std::function<void(const std::string& name, const std::string& error)>;

  explicit RunnableThreads(FailureHandler on_failure) : on_failure_(std::move(on_failure)) {}
  ~RunnableThreads() {
    RequestStop();
    const auto threads = std::exchange(state_.Lock()->threads, {});  // joins them without the lock
  }
  RunnableThreads(const RunnableThreads&) = delete;
  RunnableThreads& operator=(const RunnableThreads&) = delete;

  /// Adds a runnable. Starts it if the group runs. Throws std::system_error if there are too many
  /// threads.
  void Add(std::string name, Runnable runnable) {
    const auto added = std::make_shared<const Named>(Named{std::move(name), std::move(runnable)});
    const auto ended = TakeEnded();  // joined without the lock
    auto state = state_.Lock();
    state->runnables.push_back(added);
    if (state->is_running) StartThread(*state, added);
  }

  /// Starts all runnables. Throws std::system_error if there are too many threads. Call it again
  /// only after WaitUntilEnded has returned nothing.
  void Start() {
    const auto ended = TakeEnded();  // of an earlier start; joined without the lock
    auto state = state_.Lock();
    state->is_running = true;
    for (const auto& runnable : state->runnables) StartThread(*state, runnable);
  }

  /// Requests a stop of all runnables. Does not block.
  void RequestStop() {
    auto state = state_.Lock();
    state->is_running = false;
    for (Worker& worker : state->threads) worker.thread.request_stop();
  }

  /// Blocks until all runnables have returned, or until `deadline`. Returns the names of those that
  /// have not. Call it after RequestStop.
  std::vector<std::string> WaitUntilEnded(Clock& clock, TimePoint deadline) {
    auto state = state_.Lock();
    const auto has_ended = [](const Worker& worker) { return worker.ended; };
    while (!std::ranges::all_of(state->threads, has_ended) && clock.Now() < deadline) {
      clock.WaitUntil(state.lock(), ended_, deadline);
    }
    std::vector<std::string> running;
    for (const Worker& worker : state->threads) {
      if (!worker.ended) running.push_back(worker.name);
    }
    return running;
  }

 private:
  struct Named {
    std::string name;
    Runnable run;
  };
  struct Worker {
    std::string name{};
    bool ended = false;
    std::jthread thread{};
  };
  struct State {
    bool is_running = false;
    std::vector<std::shared_ptr<const Named>> runnables;
    std::list<Worker> threads;
  };

  /// Removes the threads that have ended.
  std::list<Worker> TakeEnded() {
    std::list<Worker> ended;
    auto state = state_.Lock();
    for (auto next = state->threads.begin(); next != state->threads.end();) {
      const auto worker = next++;
      if (worker->ended) ended.splice(ended.end(), state->threads, worker);
    }
    return ended;
  }

  void StartThread(State& state, const std::shared_ptr<const Named>& runnable) {
    Worker& worker = state.threads.emplace_back(Worker{.name = runnable->name});
    try {
      worker.thread = std::jthread([this, runnable, &worker](const std::stop_token& stop) {
        Run(*runnable, stop);
        auto locked = state_.Lock();
        worker.ended = true;
        ended_.notify_all();
      });
    } catch (const std::system_error&) {
      state.threads.pop_back();
      throw;
    }
  }

  /// After a stop request, exceptions are expected: calls are cancelled.
  void Run(const Named& runnable, const std::stop_token& stop) {
    try {
      runnable.run(stop);
    } catch (const std::exception& error) {
      if (!stop.stop_requested()) on_failure_(runnable.name, error.what());
    } catch (...) {
      if (!stop.stop_requested()) {
        on_failure_(runnable.name, "it threw an object that is not a std::exception");
      }
    }
  }

  const FailureHandler on_failure_;
  std::condition_variable ended_;
  Guarded<State> state_;
};

}  // namespace kopp
